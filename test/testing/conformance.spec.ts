import type { LockStore } from 'nest-holdfast/core';
import { MemoryLockStore } from 'nest-holdfast/core';
import { lockStoreConformance } from 'nest-holdfast/testing';

/** Resolves when the check has passed on a store whose attempts, one after the other, take so many times the short ttl. */
async function check(...attempts: number[]): Promise<number> {
  const store = new MemoryLockStore();
  const tryAcquire = store.tryAcquire.bind(store);
  let calls = 0;
  store.tryAcquire = async (request) => {
    const lease = await tryAcquire(request);
    const wait = request.ttl < 30_000 ? (attempts[calls++] ?? 0) * request.ttl : 0;
    for (const since = performance.now(); performance.now() < since + wait;);
    return lease;
  };
  await run('keeps an extended key beyond its first ttl', store); // of 100 ms
  return calls;
}

function run(only: string, store: LockStore): Promise<void> {
  let made: Promise<void> | undefined;
  const test = (name: string, each: () => Promise<void>) => {
    if (name === only) made = each();
  };
  lockStoreConformance({ test, createStore: () => store });
  return made!;
}

describe('lockStoreConformance', () => {
  it('makes a check again that was too slow for its ttl', async () => {
    expect(await check(1.1, 1.1)).toBeGreaterThanOrEqual(3);
  });

  it('fails when the machine is always too slow', async () => {
    await expect(check(...Array.from({ length: 10 }, () => 1.1))).rejects.toThrow();
  });

  it('fails when the store is wrong', async () => {
    const store = new MemoryLockStore();
    const asked = jest.spyOn(store, 'tryAcquire').mockResolvedValue(undefined);
    await expect(run('grants a free key', store)).rejects.toThrow('should have been free');
    expect(asked).toHaveBeenCalledTimes(1);
  });
});
