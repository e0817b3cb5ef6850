import { AsyncResource } from 'node:async_hooks';
import { LockDeadlockError, LockService } from 'nest-holdfast/core';
import type { LockOptions } from 'nest-holdfast/core';
import { deferred, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

const warnings: unknown[] = [];

beforeEach(() => {
  warnings.length = 0;
  jest.spyOn(process, 'emitWarning').mockImplementation((message, options) => {
    expect(options).toEqual({ code: 'HOLDFAST_SELF_DEADLOCK' });
    warnings.push(message);
  });
});
afterEach(() => jest.restoreAllMocks());

const REMEDIES =
  'If the call is nested in that lock, share the lock: reentrant: true. If the context is that of another (a job of a shared ' +
  'queue, a listener), give the call a context of its own: AsyncResource.bind or locks.outside(work)';

type Keys = string | string[];

describe.each([
  [
    'withLock',
    (locks: LockService, keys: Keys, options: LockOptions = {}) =>
      locks.withLock(keys, options, () => 'in'),
  ],
  [
    'acquire',
    (locks: LockService, keys: Keys, options?: LockOptions) => locks.acquire(keys, options),
  ],
  ['enter', (locks: LockService, keys: Keys, options?: LockOptions) => locks.enter(keys, options)],
] as const)('%s of a key that its own async context holds', (_, call) => {
  it('waits, and rejects with LockDeadlockError after a second', async () => {
    const { locks, clock } = inMemory();
    await locks.withLock('order:1', async () => {
      const nested = watch<unknown>(call(locks, 'order:1'));
      await clock.advance(999);
      expect(nested.status).toBe('pending');
      await clock.advance(1);
      expect(nested.error).toBeInstanceOf(LockDeadlockError);
      expect(nested.error).toMatchObject({
        code: 'LOCK_DEADLOCK',
        key: 'order:1',
        message: `Lock "order:1" was not acquired within 1000 ms: the calling async context holds "order:1". ${REMEDIES}`,
      });
    });
    expect(await locks.tryAcquire('order:1')).toBeDefined();
  });

  it('rejects at its waitTimeout, where that is shorter', async () => {
    const { locks, clock } = inMemory();
    await locks.withLock(['a', 'b'], async () => {
      const nested = watch<unknown>(call(locks, ['b', 'c'], { waitTimeout: 300 }));
      await clock.advance(299);
      expect(nested.status).toBe('pending');
      await clock.advance(1);
      expect(nested.error).toMatchObject({ code: 'LOCK_DEADLOCK', key: 'b, c' });
      expect((nested.error as Error).message).toContain(
        'Lock "b, c" was not acquired within 300 ms: the calling async context holds "a, b"',
      );
    });
    expect(await locks.tryAcquire(['a', 'b', 'c'])).toBeDefined();
  });

  it('is served as any other, when the lock ends within the second', async () => {
    const { locks, clock } = inMemory();
    const over = deferred<void>();
    let job!: ReturnType<typeof watch<unknown>>;
    const outer = locks.withLock('a', () => {
      job = watch<unknown>(call(locks, 'a'));
      return over.promise;
    });
    await clock.advance(900);
    expect(job.status).toBe('pending');
    over.resolve();
    await outer;
    await clock.advance(5_000);
    expect(job.status).toBe('fulfilled');
  });

  it('waits as any other, once its context holds the key no more', async () => {
    const { locks, others, clock } = inMemory({ waitTimeout: 5_000 });
    const over = deferred<void>();
    const start = deferred<void>();
    let job!: ReturnType<typeof watch<unknown>>;
    const outer = locks.withLock('a', async () => {
      await start.promise;
      job = watch<unknown>(call(locks, 'a'));
      await over.promise;
    });
    await clock.advance(0);
    const between = watch(others.acquire('a'));
    await clock.advance(0);
    start.resolve();
    await clock.advance(500);
    over.resolve();
    await outer;
    await clock.advance(2_000);
    expect([between.status, job.status]).toEqual(['fulfilled', 'pending']);
    await clock.advance(2_500);
    expect(job.error).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });

  it('makes one attempt with waitTimeout: 0 or retryCount: 0: the key is held, and nothing waits for itself', async () => {
    const { locks } = inMemory();
    await locks.withLock('a', async () => {
      for (const options of [{ waitTimeout: 0 }, { retryCount: 0 }]) {
        const error = await rejectionOf(Promise.resolve(call(locks, 'a', options)));
        expect(error).toMatchObject({ code: 'LOCK_TIMEOUT' });
      }
    });
  });
});

describe('a wait for a key of the own context', () => {
  it('ends with the signal of the call', async () => {
    const { locks, clock } = inMemory();
    const stop = new AbortController();
    await locks.withLock('a', async () => {
      const nested = watch(locks.withLock('a', { signal: stop.signal }, () => 1));
      await clock.advance(0);
      stop.abort(new Error('changed my mind'));
      await clock.advance(0);
      expect(nested.error).toBe(stop.signal.reason);
    });
  });

  it('is not told of what the work itself rejects with', async () => {
    const { locks } = inMemory();
    const failure = await rejectionOf(
      locks.acquire('b').then(() => locks.acquire('b', { waitTimeout: 0 })),
    );
    expect(failure).toMatchObject({ code: 'LOCK_TIMEOUT' });
    const READ = { mode: 'read' } as const;
    const error = await rejectionOf(
      locks.withLock('a', READ, () => locks.withLock('a', READ, () => Promise.reject(failure))),
    );
    expect(error).toBe(failure);
  });

  it('leaves no timer and no listener behind', async () => {
    const { locks, clock } = onFakeStore();
    const stop = new AbortController();
    const listeners = jest.spyOn(stop.signal, 'removeEventListener');
    await locks.withLock('a', async () => {
      const nested = watch(locks.withLock('a', { signal: stop.signal }, () => 1));
      await clock.advance(1_000);
      expect(nested.error).toBeInstanceOf(LockDeadlockError);
    });
    expect(listeners).toHaveBeenCalledWith('abort', expect.anything());
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('as a reader beside a reader, or with one more permit, is granted', async () => {
    const { locks, store } = inMemory();
    const READ = { mode: 'read' } as const;
    await locks.withLock('a', READ, () => locks.withLock('a', READ, (inner) => inner.release()));
    await locks.withPermit('b', { permits: 2 }, () =>
      locks.withPermit('b', { permits: 2 }, async () => {
        expect((await store.inspect('b'))?.holders).toHaveLength(2);
      }),
    );
    expect(warnings).toEqual([]);
  });

  it('as a reader behind a writer that waits is told', async () => {
    const { locks, others, clock } = inMemory();
    const READ = { mode: 'read' } as const;
    await locks.withLock('a', READ, async () => {
      const writer = watch(others.acquire('a'));
      await clock.advance(0);
      const reader = watch(locks.acquire('a', READ));
      await clock.advance(1_000);
      expect([writer.status, reader.error]).toEqual(['pending', expect.any(LockDeadlockError)]);
    });
  });
});

describe('the process warning', () => {
  it('comes at once, the first time for each key name', async () => {
    const { locks, clock } = inMemory();
    const nest = async (key: string) => {
      const nested = watch(locks.withLock(key, () => locks.acquire(key)));
      await clock.advance(0);
      const seen = warnings.length;
      await clock.advance(1_000);
      expect(nested.error).toBeInstanceOf(LockDeadlockError);
      return seen;
    };
    expect([await nest('order:1'), await nest('order:2'), await nest('stock')]).toEqual([1, 1, 2]);
    expect(warnings[0]).toBe(
      `A call for lock "order:1" waits for at most 1000 ms: the calling async context holds "order:1". ${REMEDIES}`,
    );
  });

  it('does not come for one attempt: its error says the same', async () => {
    const { locks } = inMemory();
    const refused = () => rejectionOf(locks.acquire('a', { waitTimeout: 0 }));
    const { message } = await locks.withLock('a', refused);
    expect(message).toBe(
      `Lock "a" was not acquired: the calling async context holds "a". ${REMEDIES}`,
    );
    expect(warnings).toEqual([]);
  });
});

describe('a call of its own', () => {
  it('is made outside', async () => {
    const { locks, clock } = inMemory();
    await locks.withLock('a', async () => {
      expect(locks.outside(() => locks.current())).toBeUndefined();
      const outside = watch(locks.outside(() => locks.acquire('a', { waitTimeout: 3_000 })));
      const bound = watch(elsewhere(() => locks.acquire('a', { waitTimeout: 3_000 })));
      await clock.advance(3_000);
      for (const { error } of [outside, bound])
        expect(error).toMatchObject({ code: 'LOCK_TIMEOUT' });
      expect(locks.current()?.key).toBe('a');
    });
    expect(warnings).toEqual([]);
  });

  it('outside expects a function', () => {
    const { locks } = inMemory();
    expect(() => locks.outside(1 as never)).toThrow('outside expects a function');
  });
});

const elsewhere = AsyncResource.bind(<T>(work: () => T) => work());
