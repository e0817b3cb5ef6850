import { defer } from 'rxjs';
import { LockLostError } from 'nest-holdfast/core';
import type { Lock } from 'nest-holdfast/core';
import { deferred, never, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

describe('withLock', () => {
  it('runs the work under the lock and gives back its result', async () => {
    const { locks, others, events } = inMemory();
    const result = await locks.withLock('a', async (lock) => {
      expect(lock.isHeld).toBe(true);
      expect(await others.tryAcquire('a')).toBeUndefined();
      return 42;
    });
    expect(result).toBe(42);
    expect(await others.tryAcquire('a')).toBeDefined();
    expect(events).toEqual(['held', 'released']);
  });

  it('takes options before the work', async () => {
    const { locks, store } = onFakeStore();
    expect(await locks.withLock(['b', 'a'], { ttl: 500 }, (lock) => lock.key)).toBe('a');
    expect(store.requests[0]).toMatchObject({ ttl: 500, keys: ['a', 'b'] });
  });

  it('takes work that is not async', async () => {
    const { locks, lease } = onFakeStore();
    expect(await locks.withLock('a', () => 'done')).toBe('done');
    expect(lease.releases).toBe(1);
  });

  it.each([
    ['nothing', [], 'undefined'],
    ['options only', [{ ttl: 500 }], 'an object'],
    ['something else after the options', [{ ttl: 500 }, 'work'], 'the string "work"'],
    ['the work before the options', [() => 1, { ttl: 500 }], 'an object'],
  ])('with %s instead of work is a TypeError, and takes no lock', async (_, rest, got) => {
    const { locks, store } = onFakeStore();
    const call = locks.withLock.bind(locks) as (...all: unknown[]) => Promise<unknown>;
    const error = await rejectionOf(call('a', ...rest));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(`withLock expects a function as its last argument, got ${got}`);
    expect(store.requests).toEqual([]);
  });

  it('does not run the work without the lock', async () => {
    const { locks, store } = onFakeStore({ waitTimeout: 0 });
    const work = jest.fn();
    store.onAcquire = () => Promise.resolve(undefined);
    expect(await rejectionOf(locks.withLock('a', work))).toMatchObject({ code: 'LOCK_TIMEOUT' });
    store.onAcquire = () => Promise.reject(new Error('down'));
    expect(await rejectionOf(locks.withLock('a', work))).toMatchObject({
      code: 'LOCK_STORE_FAILED',
    });
    expect(work).not.toHaveBeenCalled();
  });
});

describe('a result whose work has not begun', () => {
  let ran = false;
  function* rows() {
    ran = true;
    yield 1;
  }
  async function* laterRows() {
    ran = true;
    yield 1;
  }
  const { locks } = inMemory();
  const ways: [string, (work: () => unknown) => Promise<unknown>][] = [
    ['withLock', (work) => locks.withLock('order:42', work)],
    ['tryWithLock', (work) => locks.tryWithLock('order:42', work)],
    ['withPermit', (work) => locks.withPermit('order:42', { permits: 2 }, work)],
  ];

  it.each(ways)('is refused by %s', async (_name, call) => {
    const sent = defer(async () => (ran = true));
    for (const work of [rows, laterRows, () => rows(), async () => laterRows(), () => sent])
      await expect(call(work)).rejects.toMatchObject({
        code: 'LOCK_OPTION_INVALID',
        message: expect.stringMatching(/returned an? (generator|Observable), which would run/),
      });
    expect(ran).toBe(false);
    expect(await locks.inspect('order:42')).toBeUndefined();
  });
});

it.each([
  ['an iterator of its own', { [Symbol.iterator]: () => [][Symbol.iterator]() }],
  ['an event target', { subscribe: () => {} }],
  [
    'getters that throw',
    Object.defineProperty({}, 'lift', {
      get() {
        throw new Error('no');
      },
    }),
  ],
])('a result with %s comes through', async (_what, result) => {
  expect(await inMemory().locks.withLock('a', () => result)).toBe(result);
});

describe('an error of the work comes through as the same object', () => {
  class NotFound extends Error {}
  const failure = new NotFound('no such order');

  it.each([
    ['rejects', () => Promise.reject(failure)],
    [
      'throws',
      () => {
        throw failure;
      },
    ],
  ])('when the work %s; the lock is released', async (_, work) => {
    const { locks, lease } = onFakeStore();
    expect(await rejectionOf(locks.withLock('a', work))).toBe(failure);
    expect(lease.releases).toBe(1);
  });

  it('also when the release fails, and when the lock was lost on the way', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 100, autoExtend: false });
    lease.onRelease = () => Promise.reject(new Error('down'));
    expect(await rejectionOf(locks.withLock('a', () => Promise.reject(failure)))).toBe(failure);
    const late = locks.withLock('a', () => {
      clock.jump(1_000);
      throw failure;
    });
    expect(await rejectionOf(late)).toBe(failure);
  });

  it('and may be anything', async () => {
    const { locks, clock } = onFakeStore();
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the work of others
    const outcome = watch(locks.withLock('a', () => Promise.reject('no luck')));
    await clock.advance(0);
    expect(outcome).toMatchObject({ status: 'rejected', error: 'no luck' });
  });
});

describe('work whose lock was lost does not look successful', () => {
  it('withLock rejects with a LockLostError that carries the result', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 100 });
    lease.onExtend = never;
    const work = deferred<string>();
    let lock!: Lock;
    const outcome = watch(
      locks.withLock('a', (own) => {
        lock = own;
        return work.promise;
      }),
    );
    await clock.advance(100);
    expect(lock.signal.aborted).toBe(true);
    expect(outcome.status).toBe('pending');
    work.resolve('paid');
    await clock.advance(0);
    const error = outcome.error as LockLostError;
    expect(error).toBeInstanceOf(LockLostError);
    expect(error).toMatchObject({ code: 'LOCK_LOST', key: 'a', reason: 'expired', result: 'paid' });
    expect(error.cause).toBe(lock.signal.reason);
    expect(error.message).toBe('Lock "a" is no longer held: it was not extended in time');
    expect(lock.signal.reason).not.toHaveProperty('result');
  });

  it('although no timer could run since', async () => {
    const { locks, clock } = onFakeStore({ ttl: 100 });
    const error = await rejectionOf(locks.withLock('a', () => clock.jump(1_000)));
    expect(error).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
    expect(Object.hasOwn(error, 'result')).toBe(true);
  });

  it('although only the release found out', async () => {
    const { locks, lease } = onFakeStore();
    lease.onRelease = () => Promise.resolve(false);
    const error = await rejectionOf(locks.withLock('a', () => 'paid'));
    expect(error).toMatchObject({ code: 'LOCK_LOST', reason: 'gone', result: 'paid' });
  });

  it('but it does when the store did not confirm the release, for the lock was held until then', async () => {
    const { locks, lease } = onFakeStore();
    lease.onRelease = () => Promise.reject(new Error('down'));
    expect(await locks.withLock('a', () => 'paid')).toBe('paid');
  });

  it('and when the work itself released its lock', async () => {
    const { locks, lease } = onFakeStore();
    expect(await locks.withLock('a', (lock) => lock.release())).toBe(true);
    expect(lease.releases).toBe(1);
  });
});
