import { LockStoreError } from 'nest-holdfast/core';
import type { Lease } from 'nest-holdfast/core';
import { deferred, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore, onQueueStore } from '../support/setup';

describe('endWaits', () => {
  it('ends waits, and leaves what is held', async () => {
    const { locks, others, clock } = inMemory();
    const held = await locks.acquire('a');
    const elsewhere = await others.acquire('b');
    const waiting = [watch(locks.acquire('a')), watch(locks.acquire('b'))];
    await clock.advance(100);
    locks.endWaits();
    await clock.advance(0);
    expect(waiting.map(({ error }) => (error as LockStoreError).message)).toEqual([
      'Lock store "memory" failed for "a": the LockService is closed',
      'Lock store "memory" failed for "b": the LockService is closed',
    ]);
    expect(held.isHeld).toBe(true);
    await clock.advance(60_000);
    expect(held.isHeld).toBe(true);
    expect(await held.release()).toBe(true);
    await elsewhere.release();
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends waits in the queue of a store', async () => {
    const { locks, store, clock } = onQueueStore();
    const acquired = watch(locks.acquire('a'));
    await clock.advance(1_000);
    locks.endWaits();
    await clock.advance(0);
    expect(acquired.error).toBeInstanceOf(LockStoreError);
    expect(store.waiters).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('still grants free keys, and lets no caller wait', async () => {
    const { locks, others, clock } = inMemory({ waitTimeout: Infinity });
    await others.acquire('a');
    locks.endWaits();
    expect(await locks.withLock('b', () => 'worked')).toBe('worked');
    expect(await rejectionOf(locks.acquire('a'))).toMatchObject({
      code: 'LOCK_TIMEOUT',
      waitTimeout: 0,
    });
    expect(await locks.tryAcquire('a')).toBeUndefined();
    await locks.close();
    await others.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('grants what an attempt that is on its way finds free', async () => {
    const { locks, store, lease, clock } = onFakeStore();
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () => answer.promise;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(0);
    locks.endWaits();
    answer.resolve(lease);
    await clock.advance(0);
    expect(acquired.value?.isHeld).toBe(true);
    await locks.close();
    expect(lease.releases).toBe(1);
  });
});
