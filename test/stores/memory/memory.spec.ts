import { MemoryLockStore } from 'nest-holdfast';
import { FakeClock, lockStoreConformance } from 'nest-holdfast/testing';

describe('MemoryLockStore', () => {
  const clock = new FakeClock();
  const shared = new MemoryLockStore(clock); // one process, so one store is the whole backend

  lockStoreConformance({
    test: it,
    createStore: () => shared,
    expire: (ms) => clock.advance(ms),
    lacks: ['sessions', 'globalTokens', 'handOff'],
  });

  it('tells 10,000 held locks in pages', async () => {
    const store = new MemoryLockStore(clock);
    for (let index = 0; index < 10_000; index++) {
      const key = `order:${index}`;
      await store.tryAcquire({ key, keys: [key], token: key, ttl: 30_000 });
    }
    const found = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await store.list({ limit: 100, cursor });
      for (const { key } of page.locks) found.add(key);
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(found.size).toBe(10_000);
  });

  it('lets those in who stood behind one that wanted several keys, and has them or was refused', async () => {
    const store = new MemoryLockStore(clock);
    const { signal } = new AbortController();
    const request = (keys: string[], token: string, permits?: number) => ({
      key: keys[0]!,
      keys,
      token,
      ttl: 1_000,
      permits,
    });
    const writer = await store.tryAcquire(request(['a'], 'writer'));
    const both = store.acquire(request(['a', 'b'], 'both', Infinity), signal);
    const behind = store.acquire(request(['b'], 'behind', Infinity), signal);
    await writer!.release();
    await Promise.all([both, behind]);

    const other = await store.tryAcquire(request(['c'], 'writer'));
    const refused = store.acquire(request(['c', 'd'], 'refused', 3), signal);
    const waiting = store.acquire(request(['d'], 'waiting', 3), signal);
    await other!.downgrade!();
    await expect(refused).rejects.toThrow('in use as a read lock');
    expect(await (await waiting).release()).toBe(true);
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
