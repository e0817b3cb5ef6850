import { LockKeyError, LockTimeoutError } from 'nest-holdfast/core';
import type { LockOptions } from 'nest-holdfast/core';
import { rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

describe('a free key', () => {
  it('is granted at once', async () => {
    const { locks, clock, store } = inMemory();
    const lock = await locks.acquire('a');
    expect(lock.isHeld).toBe(true);
    expect(lock.state).toBe('held');
    expect(lock.key).toBe('a');
    expect(lock.keys).toEqual(['a']);
    expect(await store.inspect('a')).toMatchObject({ remaining: 30_000 });
    expect(clock.now()).toBe(50_000);
  });

  it('is granted to tryAcquire, too', async () => {
    const { locks } = inMemory();
    const lock = await locks.tryAcquire('a');
    expect(lock?.isHeld).toBe(true);
  });

  it('is asked for with everything that a store may need', async () => {
    const { locks, store } = onFakeStore({ ttl: 1_000 });
    await locks.acquire(['b', 'a', 'b'], { ttl: 2_000 });
    expect(store.requests).toEqual([
      {
        key: 'a',
        keys: ['a', 'b'],
        token: expect.any(String),
        ttl: 2_000,
        storeTimeout: 5_000,
        holder: expect.stringMatching(new RegExp(`^.+:${process.pid}:\\d{13}$`)),
      },
    ]);
  });

  it('is asked for with a token that no other acquisition has', async () => {
    const { locks, store } = onFakeStore();
    for (let i = 0; i < 20; i++) await locks.acquire(`key ${i}`);
    await locks.tryAcquire('another');
    const tokens = store.requests.map(({ token }) => token);
    expect(new Set(tokens).size).toBe(21);
    for (const token of tokens) expect(token.length).toBeGreaterThanOrEqual(32);
  });

  it('options of the call override those of the service', async () => {
    const { locks, store } = onFakeStore({ ttl: 1_000 });
    await locks.acquire('a');
    await locks.acquire('b', { ttl: 500 });
    await locks.tryAcquire('c', { ttl: 400 });
    await locks.acquire('d', { ttl: undefined });
    expect(store.requests.map(({ ttl }) => ttl)).toEqual([1_000, 500, 400, 1_000]);
  });
});

describe('a held key', () => {
  it('gives undefined to tryAcquire, after one attempt and no time', async () => {
    const { locks, store, clock } = onFakeStore();
    store.onAcquire = () => Promise.resolve(undefined);
    expect(await locks.tryAcquire('a', { waitTimeout: 5_000 })).toBeUndefined();
    expect(store.requests).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('with waitTimeout 0 gives a LockTimeoutError after one attempt', async () => {
    const { locks, store, clock } = onFakeStore({ waitTimeout: 0 });
    store.onAcquire = () => Promise.resolve(undefined);
    const error = await rejectionOf<LockTimeoutError>(locks.acquire('a'));
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error).toMatchObject({ code: 'LOCK_TIMEOUT', key: 'a', waitTimeout: 0 });
    expect(error.message).toBe('Lock "a" was not acquired: it is held (attempts: 1)');
    expect(store.requests).toHaveLength(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is waited for until it is released', async () => {
    const { locks, others, clock } = inMemory({ retryDelay: 10, retryJitter: 0 });
    const first = await locks.acquire('a');
    const second = watch(others.acquire('a'));
    await clock.advance(95);
    expect(second.status).toBe('pending');
    await first.release();
    await clock.advance(5);
    expect(second.value?.isHeld).toBe(true);
    expect(second.value!.fencingToken).toBeGreaterThan(first.fencingToken);
  });

  it('is waited for until it expires', async () => {
    const { locks, others, clock } = inMemory({ retryDelay: 10, retryJitter: 0, ttl: 1_000 });
    const first = await locks.acquire('a', { autoExtend: false });
    const second = watch(others.acquire('a', { waitTimeout: Infinity }));
    await clock.advance(999);
    expect(second.status).toBe('pending');
    await clock.advance(1);
    expect(second.status).toBe('fulfilled');
    expect(first.isHeld).toBe(false);
  });

  it('gives a LockTimeoutError at the deadline, after a last attempt at it', async () => {
    const { locks, store, clock } = onFakeStore({ retryDelay: 30, retryJitter: 0 });
    const attempts: number[] = [];
    store.onAcquire = () => {
      attempts.push(clock.now() - 50_000);
      return Promise.resolve(undefined);
    };
    const acquired = watch(locks.acquire(['b', 'a'], { waitTimeout: 100 }));
    await clock.advance(99);
    expect(acquired.status).toBe('pending');
    await clock.advance(1);
    expect(attempts).toEqual([0, 30, 60, 90, 100]);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
    expect(acquired.error).toMatchObject({
      key: 'a, b',
      waitTimeout: 100,
      message: 'Lock "a, b" was not acquired within 100 ms: it is held (attempts: 5)',
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('a last attempt at the deadline may still win', async () => {
    const { locks, store, lease, clock } = onFakeStore({ retryDelay: 1_000, retryJitter: 0 });
    store.onAcquire = () => Promise.resolve(clock.now() >= 50_100 ? lease : undefined);
    const acquired = watch(locks.acquire('a', { waitTimeout: 100 }));
    await clock.advance(100);
    expect(acquired.status).toBe('fulfilled');
  });

  it.each([0, 1, 3])('is tried again %d times with that retryCount', async (retryCount) => {
    const { locks, store, clock } = onFakeStore({ retryDelay: 10, retryJitter: 0, retryCount });
    store.onAcquire = () => Promise.resolve(undefined);
    const acquired = watch(locks.acquire('a'));
    await clock.advance(1_000);
    expect(store.requests).toHaveLength(1 + retryCount);
    const within = retryCount === 0 ? '' : ` within ${retryCount * 10} ms`;
    expect(acquired.error).toMatchObject({
      code: 'LOCK_TIMEOUT',
      waitTimeout: retryCount * 10,
      message: `Lock "a" was not acquired${within}: it is held (attempts: ${1 + retryCount})`,
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('all attempts of one acquisition have one token', async () => {
    const { locks, store, clock } = onFakeStore({ retryDelay: 10, retryJitter: 0, retryCount: 3 });
    store.onAcquire = () => Promise.resolve(undefined);
    watch(locks.acquire('a'));
    await clock.advance(100);
    expect(new Set(store.requests.map(({ token }) => token)).size).toBe(1);
  });
});

describe('misuse', () => {
  const calls: [string, (key: never, options: never) => Promise<unknown>][] = [
    ['acquire', (key, options) => onFakeStore().locks.acquire(key, options)],
    ['tryAcquire', (key, options) => onFakeStore().locks.tryAcquire(key, options)],
    ['enter', (key, options) => onFakeStore().locks.enter(key, options)],
    ['withLock', (key, options) => onFakeStore().locks.withLock(key, options, () => 1)],
  ];

  it.each(calls)('%s rejects for a bad key', async (_, call) => {
    const error = await rejectionOf(call('' as never, undefined as never));
    expect(error).toBeInstanceOf(LockKeyError);
  });

  it.each(calls)('%s rejects for a bad option', async (_, call) => {
    const options: LockOptions = { ttl: 0 };
    const error = await rejectionOf(call('a' as never, options as never));
    expect(error).toBeInstanceOf(RangeError);
    expect(error.message).toContain('ttl must be');
  });

  it('the constructor throws for a bad default', () => {
    expect(() => onFakeStore({ ttl: 0 })).toThrow(RangeError);
    expect(() => onFakeStore({ patience: 1 } as LockOptions)).toThrow(
      'LockService: unknown option "patience"; known options are clock, maxWaitingTotal, ttl, waitTimeout',
    );
  });
});

it('tells the name of its store', () => {
  expect(onFakeStore().locks.storeName).toBe('fake');
});
