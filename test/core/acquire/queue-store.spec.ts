import { LockStoreError, LockTimeoutError } from 'nest-holdfast/core';
import { watch } from '../support/outcome';
import { onQueueStore } from '../support/setup';

const session = { fencing: true, ttl: false, manyKeys: true };

describe('a store with a queue of its own', () => {
  it('is asked once whether the key is free, then to wait', async () => {
    const { locks, store, lease, clock } = onQueueStore();
    const acquired = watch(locks.acquire('a'));
    await clock.advance(5_000);
    expect(store.requests).toHaveLength(1);
    expect(store.queued).toBe(1);
    expect(store.waiters[0]!.request).toBe(store.requests[0]);
    store.grant();
    await clock.advance(0);
    expect(acquired.value?.isHeld).toBe(true);
    expect(lease.extensions).toEqual([30_000]);
    expect(clock.pendingTimers).toBe(1);
  });

  it('is not asked to wait for a free key, with waitTimeout 0, or with retryCount 0', async () => {
    const { locks, store, clock, lease } = onQueueStore();
    expect(await locks.tryAcquire('a')).toBeUndefined();
    const refused = [
      watch(locks.acquire('a', { waitTimeout: 0 })),
      watch(locks.acquire('a', { retryCount: 0 })),
    ];
    await clock.advance(0);
    for (const { error } of refused) expect(error).toBeInstanceOf(LockTimeoutError);
    store.onAcquire = () => Promise.resolve(lease);
    await locks.acquire('a');
    expect(store.queued).toBe(0);
    expect(lease.extensions).toEqual([]);
  });

  it('is given as long as the wait may take, not storeTimeout', async () => {
    const { locks, store, clock } = onQueueStore({ storeTimeout: 1_000 });
    const acquired = watch(locks.acquire('a', { waitTimeout: 60_000 }));
    await clock.advance(59_999);
    expect(acquired.status).toBe('pending');
    store.grant();
    await clock.advance(0);
    expect(acquired.status).toBe('fulfilled');
  });

  it('may wait for ever', async () => {
    const { locks, store, clock } = onQueueStore();
    const acquired = watch(locks.acquire('a', { waitTimeout: Infinity }));
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(1); // it keeps the process alive
    await clock.advance(2 * 3_600_000);
    expect(clock.pendingTimers).toBe(1);
    store.grant();
    await clock.advance(0);
    expect(acquired.status).toBe('fulfilled');
  });

  it('is told by its signal when the deadline has come', async () => {
    const { locks, store, clock } = onQueueStore();
    const acquired = watch(locks.acquire('a', { waitTimeout: 700 }));
    await clock.advance(699);
    const [waiter] = store.waiters;
    expect(waiter!.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(waiter!.signal.aborted).toBe(true);
    expect(acquired.error).toBeInstanceOf(LockTimeoutError);
    expect((acquired.error as Error).message).toBe(
      'Lock "a" was not acquired within 700 ms: it is held (attempts: 2)',
    );
    expect(waiter!.signal.reason).toBe(acquired.error);
    expect(store.waiters).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is told by its signal when the caller gives up', async () => {
    const { locks, store, clock } = onQueueStore();
    const controller = new AbortController();
    const acquired = watch(locks.acquire('a', { signal: controller.signal }));
    await clock.advance(10);
    const reason = new Error('the client went away');
    controller.abort(reason);
    await clock.advance(0);
    expect(acquired.error).toBe(reason);
    expect(store.waiters).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not asked to wait for a caller who gave up when the first answer had just come', async () => {
    const { locks, store, clock } = onQueueStore();
    const controller = new AbortController();
    const reason = new Error('the client went away');
    controller.signal.removeEventListener = () => controller.abort(reason);
    const acquired = watch(locks.acquire('a', { signal: controller.signal }));
    await clock.advance(0);
    expect(acquired.error).toBe(reason);
    expect(store.requests).toHaveLength(1);
    expect(store.queued).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that fails is reported with the cause', async () => {
    const down = new Error('down');
    for (const acquire of [
      () => Promise.reject(down),
      () => {
        throw down;
      },
    ]) {
      const { locks, store, clock } = onQueueStore();
      store.acquire = acquire;
      const acquired = watch(locks.acquire('a'));
      await clock.advance(0);
      expect(acquired.error).toBeInstanceOf(LockStoreError);
      expect(acquired.error).toMatchObject({ cause: down, key: 'a' });
      expect(clock.pendingTimers).toBe(0);
    }
  });
});

describe('a store with a queue, and no ttl', () => {
  it('hands out locks as they are', async () => {
    const { locks, store, lease, clock } = onQueueStore({}, session);
    const acquired = watch(locks.acquire('a'));
    await clock.advance(5_000);
    store.grant();
    await clock.advance(0);
    expect(acquired.value!.remaining).toBe(Infinity);
    expect(lease.extensions).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('maxHold counts from when it was handed out', async () => {
    const { locks, store, clock } = onQueueStore({ maxHold: 1_000 }, session);
    const acquired = watch(locks.acquire('a'));
    await clock.advance(5_000);
    store.grant();
    await clock.advance(0);
    expect(acquired.value!.remaining).toBe(1_000);
  });

  it('a session that ended on the way is not a lock', async () => {
    const { locks, store, lease, clock } = onQueueStore({ waitTimeout: 500 }, session);
    lease.lost = AbortSignal.abort();
    const acquired = watch(locks.acquire('a'));
    await clock.advance(0);
    store.grant();
    await clock.advance(0);
    expect(lease.releases).toBe(1);
    expect(acquired.status).toBe('pending');
    await clock.advance(500);
    expect(acquired.status).toBe('rejected');
  });
});

it('several keys of a store that takes one at a time are polled, not queued', async () => {
  const { locks, store, clock } = onQueueStore({ retryCount: 2 }, { fencing: true, ttl: true });
  const acquired = watch(locks.acquire(['a', 'b']));
  await clock.advance(1_000);
  expect(acquired.error).toBeInstanceOf(LockTimeoutError);
  expect(store.queued).toBe(0);
  expect(store.requests).toHaveLength(3);
  watch(locks.acquire('a'));
  await clock.advance(0);
  expect(store.queued).toBe(1);
  await locks.close();
});
