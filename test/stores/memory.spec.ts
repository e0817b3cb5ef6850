import { MemoryLockStore } from 'nest-holdfast';
import { FakeClock, lockStoreConformance } from 'nest-holdfast/testing';

describe('MemoryLockStore', () => {
  const clock = new FakeClock();
  const shared = new MemoryLockStore(clock); // one process, so one store is the whole backend

  lockStoreConformance({
    test: it,
    createStore: () => shared,
    expire: (ms) => clock.advance(ms),
  });

  it('keeps neither entries nor timers of expired keys', async () => {
    const own = new FakeClock();
    const store = new MemoryLockStore(own);
    for (const key of ['a', 'b', 'c']) {
      await store.tryAcquire({ key, keys: [key], token: key, ttl: 100 });
    }
    expect(own.pendingTimers).toBe(1);
    await own.advance(100);
    expect(own.pendingTimers).toBe(0);
    expect(await store.inspect('a')).toBeUndefined();
  });
});
