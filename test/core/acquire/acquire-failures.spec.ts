import { LockKeyError, LockStoreError, LockTimeoutError } from 'nest-holdfast/core';
import type { Lease } from 'nest-holdfast/core';
import { deferred, never, rejectionOf, watch } from '../support/outcome';
import { onFakeStore } from '../support/setup';

const down = new Error('connection refused');

describe('a store that fails', () => {
  it.each([
    ['acquire', 'rejects', () => Promise.reject(down)],
    ['tryAcquire', 'rejects', () => Promise.reject(down)],
    [
      'acquire',
      'throws',
      () => {
        throw down;
      },
    ],
    [
      'tryAcquire',
      'throws',
      () => {
        throw down;
      },
    ],
  ] as const)('%s: %s, and is reported with the cause', async (method, _, onAcquire) => {
    const { locks, store, clock } = onFakeStore();
    store.onAcquire = onAcquire;
    const error = await rejectionOf<LockStoreError>(locks[method](['b', 'a']));
    expect(error).toBeInstanceOf(LockStoreError);
    expect(error).toMatchObject({ code: 'LOCK_STORE_FAILED', key: 'a, b', store: 'fake' });
    expect(error.message).toBe('Lock store "fake" failed for "a, b": connection refused');
    expect(error.cause).toBe(down);
    expect(clock.pendingTimers).toBe(0);
  });

  it('may reject with anything', async () => {
    const { locks, store } = onFakeStore();
    store.onAcquire = () => Promise.reject('no luck');
    const error = await rejectionOf(locks.acquire('a'));
    expect(error.message).toBe('Lock store "fake" failed for "a": no luck');
    expect(error.cause).toBe('no luck');
  });

  it('a LockError of its own comes through as it is', async () => {
    const { locks, store } = onFakeStore();
    const own = new LockKeyError('this store has short keys only', 'a');
    store.onAcquire = () => Promise.reject(own);
    expect(await rejectionOf(locks.acquire('a'))).toBe(own);
  });

  it('and has no connection says so, once', async () => {
    const { locks, store } = onFakeStore();
    const lacks = new Error('connect ECONNREFUSED');
    const connectionFailure = (isLast: boolean) => (isLast ? lacks : undefined);
    Object.assign(store, { connectionFailure });
    for (const said of ['gave up', 'gave up: connect ECONNREFUSED']) {
      store.onAcquire = () => Promise.reject(new Error(said));
      const error = await rejectionOf(locks.acquire('a'));
      expect(error.message).toMatch(/failed for "a": gave up: connect ECONNREFUSED$/);
      expect(error.cause).toBe(lacks);
    }
  });

  it('is asked by one attempt, too, while its client makes the connection again', async () => {
    const { locks, store } = onFakeStore();
    const connectionFailure = (isLast: boolean) => (isLast ? down : undefined);
    Object.assign(store, { connectionFailure });
    expect(await locks.tryAcquire('a')).toBeDefined();
    Object.assign(store, { connectionFailure: () => down });
    expect(await rejectionOf(locks.tryAcquire('b'))).toMatchObject({ cause: down });
    expect(store.requests).toHaveLength(1);
  });

  it('ends a wait', async () => {
    const { locks, store, clock } = onFakeStore();
    store.onAcquire = () =>
      store.requests.length < 3 ? Promise.resolve(undefined) : Promise.reject(down);
    const acquired = watch(locks.acquire('a'));
    await clock.advance(1_000);
    expect(acquired.error).toMatchObject({ code: 'LOCK_STORE_FAILED', cause: down });
    expect(clock.pendingTimers).toBe(0);
  });

  it('and a rejection that comes after the timeout is handled', async () => {
    const { locks, store, clock } = onFakeStore({ storeTimeout: 50 });
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () => answer.promise;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(50);
    expect(acquired.error).toBeInstanceOf(LockStoreError);
    answer.reject(down);
    await clock.advance(0);
  });
});

describe('a store that hangs', () => {
  it.each(['acquire', 'tryAcquire'] as const)('%s: for storeTimeout at most', async (method) => {
    const { locks, store, clock } = onFakeStore({ storeTimeout: 300 });
    store.onAcquire = never;
    const acquired = watch(locks[method]('a'));
    await clock.advance(299);
    expect(acquired.status).toBe('pending');
    await clock.advance(1);
    expect(acquired.error).toBeInstanceOf(LockStoreError);
    const error = acquired.error as LockStoreError;
    expect(error.message).toBe('Lock store "fake" failed for "a": no answer within 300 ms');
    expect(error.cause).toMatchObject({ name: 'StoreTimeout', message: 'no answer within 300 ms' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('for waitTimeout at most, and the store is to blame when it never answered', async () => {
    const { locks, store, clock } = onFakeStore({ waitTimeout: 400 });
    store.onAcquire = never;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(399);
    expect(acquired.status).toBe('pending');
    await clock.advance(1);
    expect(acquired.error).toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });

  it('for storeTimeout, not for no time at all, when there is no wait', async () => {
    const { locks, store, clock } = onFakeStore({ waitTimeout: 0, storeTimeout: 300 });
    store.onAcquire = never;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(299);
    expect(acquired.status).toBe('pending');
    await clock.advance(1);
    expect(acquired.error).toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });

  it('for a moment more in a short wait, so that it can answer at all', async () => {
    const { locks, store, lease, clock } = onFakeStore({ waitTimeout: 1 });
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () => answer.promise;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(99);
    expect(acquired.status).toBe('pending');
    answer.resolve(lease);
    await clock.advance(0);
    expect(acquired.status).toBe('fulfilled');
  });

  it('at the last attempt does not hide that the key was held', async () => {
    const { locks, store, clock } = onFakeStore({ retryDelay: 60, retryJitter: 0 });
    store.onAcquire = () => (store.requests.length < 3 ? Promise.resolve(undefined) : never());
    const acquired = watch(locks.acquire('a', { waitTimeout: 100 }));
    await clock.advance(199);
    expect(acquired.status).toBe('pending');
    await clock.advance(1);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
    expect((acquired.error as Error).message).toContain('(attempts: 3)');
  });

  it('from a later attempt until the end of the wait does not hide it either', async () => {
    const { locks, store, clock } = onFakeStore({ retryDelay: 10, retryJitter: 0 });
    store.onAcquire = () => (store.requests.length < 2 ? Promise.resolve(undefined) : never());
    const acquired = watch(locks.acquire('a', { waitTimeout: 500 }));
    await clock.advance(499);
    expect(acquired.status).toBe('pending');
    await clock.advance(1);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
  });

  it('for a second or more until the end of the wait is to blame, although the key was held', async () => {
    const { locks, store, clock } = onFakeStore({ retryDelay: 10, retryJitter: 0 });
    store.onAcquire = () => (store.requests.length < 2 ? Promise.resolve(undefined) : never());
    const acquired = watch(locks.acquire('a', { waitTimeout: 1_500 }));
    await clock.advance(1_500);
    expect(acquired.error).toBeInstanceOf(LockStoreError);
  });

  it('before the end of the wait is to blame, although the key was held', async () => {
    const { locks, store, clock } = onFakeStore({
      retryDelay: 10,
      retryJitter: 0,
      storeTimeout: 50,
    });
    store.onAcquire = () => (store.requests.length < 2 ? Promise.resolve(undefined) : never());
    const acquired = watch(locks.acquire('a'));
    await clock.advance(60);
    expect(acquired.error).toBeInstanceOf(LockStoreError);
  });

  it('and grants the key after all: the lease is released', async () => {
    const { locks, store, lease, clock, events } = onFakeStore({ storeTimeout: 300 });
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () => answer.promise;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(300);
    expect(acquired.status).toBe('rejected');
    expect(lease.releases).toBe(0);
    answer.resolve(lease);
    await clock.advance(0);
    expect(lease.releases).toBe(1);
    expect(events).toEqual([]);
  });

  it('and says after all that the key is held: nothing is released', async () => {
    const { locks, store, clock } = onFakeStore({ storeTimeout: 300 });
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () => answer.promise;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(300);
    answer.resolve(undefined);
    await clock.advance(0);
    expect(acquired.error).toBeInstanceOf(LockStoreError);
  });
});
