import type { AcquireRequest, EvictRequest } from 'nest-holdfast';
import { MemoryLockStore } from 'nest-holdfast';
import { MOST_WAITERS } from '../../../lib/core/list/most-waiters.js';
import { FakeClock } from 'nest-holdfast/testing';

const SUPPORTS = {
  fencing: true,
  ttl: true,
  manyKeys: true,
  queuesManyKeys: true,
  readLocks: true,
  semaphores: true,
};

function inMemory() {
  const clock = new FakeClock();
  const store = new MemoryLockStore(clock);
  const request = (keys: string[], token: string, options: Partial<AcquireRequest> = {}) =>
    ({ key: keys[0]!, keys, token, ttl: 1_000, ...options }) as AcquireRequest;
  const take = (keys: string[], token: string, options?: Partial<AcquireRequest>) =>
    store.tryAcquire(request(keys, token, options));
  const wait = (
    keys: string[],
    token: string,
    options?: Partial<AcquireRequest>,
    signal?: AbortSignal,
  ) => store.acquire(request(keys, token, options), signal ?? new AbortController().signal);
  return { clock, store, take, wait };
}

describe('MemoryLockStore', () => {
  it('says what it can do', () => {
    expect(inMemory().store.supports).toEqual(SUPPORTS);
  });

  it('begins its tokens at the time of day in microseconds', async () => {
    const lease = await inMemory().take(['a'], '1');
    expect(Math.abs(Number(lease!.fencingToken!) / 1_000 - Date.now())).toBeLessThan(600_000);
  });

  it('tells which keys are held, without those that have expired', async () => {
    const { clock, store, take } = inMemory();
    await take(['a', 'b'], '1');
    await take(['c'], '2', { ttl: 2_000 });
    expect(store.held()).toEqual(['a', 'b', 'c']);
    clock.jump(1_000); // timers run late
    expect(store.held()).toEqual(['c']);
  });

  it('extends several keys when it has all of them', async () => {
    const { clock, take } = inMemory();
    const both = await take(['a', 'b'], '1');
    expect(await both!.extend(5_000)).toBe(true);
    await clock.advance(4_999);
    expect(await take(['b'], '2')).toBeUndefined();
    await clock.advance(1);
    expect(await both!.extend(5_000)).toBe(false);
    expect(await take(['b'], '2')).toBeDefined();
    expect(await both!.extend(5_000)).toBe(false);
  });

  it('keeps a key that its holder has taken again, when the first ttl ends', async () => {
    const { clock, take } = inMemory();
    await take(['a'], '1');
    await clock.advance(500);
    await take(['a'], '1');
    await clock.advance(500);
    expect(await take(['a'], '2')).toBeUndefined();
  });

  it('keeps a key that is taken again before the timer of its end, which is late, has run', async () => {
    const { clock, take } = inMemory();
    await take(['a'], '1');
    clock.jump(1_000);
    expect(await take(['a'], '1')).toBeDefined();
    await clock.advance(0);
    expect(await take(['a'], '2')).toBeUndefined();
  });

  it('leaves no timer of a key that its holder has taken again and given back', async () => {
    const { clock, take } = inMemory();
    await take(['a'], '1');
    await (await take(['a'], '1'))!.release();
    expect(clock.pendingTimers).toBe(0);
  });

  it('extends none of several keys when one of them has another holder', async () => {
    const { clock, store, take } = inMemory();
    const both = await take(['a', 'b'], '1');
    const { fencingToken } = both!;
    const evicted = { key: 'b', keys: ['b'], token: '2', ttl: 1_000, fencingToken };
    expect(await store.evict(evicted as EvictRequest)).toMatchObject({ state: 'taken' });
    expect(await both!.extend(5_000)).toBe(false);
    await clock.advance(1_000);
    expect(store.held()).toEqual([]);
  });

  it('compares the permits with those of the first sharer that waits, also behind a writer', async () => {
    const { take, wait } = inMemory();
    await take(['a'], '1');
    const stop = new AbortController();
    const waits = [{}, { permits: 3 }].map((options, index) =>
      wait(['a'], `w${index}`, options, stop.signal),
    );
    await expect(take(['a'], '2', { permits: 2 })).rejects.toMatchObject({
      code: 'LOCK_PERMITS_DIFFER',
    });
    stop.abort();
    await Promise.allSettled(waits);
  });

  it('names the first of its waiters, and counts all', async () => {
    const { store, take, wait } = inMemory();
    await take(['a'], '1');
    const holders = Array.from({ length: MOST_WAITERS + 1 }, (_, index) => `process:${index}`);
    for (const holder of holders) void wait(['a'], holder, { holder });
    expect(await store.inspect('a')).toMatchObject({
      waiters: holders.slice(0, MOST_WAITERS),
      waiterCount: MOST_WAITERS + 1,
    });
  });

  it('keeps the permits of those who wait', async () => {
    const { take, wait } = inMemory();
    const writer = await take(['a', 'b'], 'writer');
    const waiting = wait(['b'], 'reader', { permits: Infinity });
    await expect(take(['b'], 'other', { permits: 3 })).rejects.toMatchObject({
      code: 'LOCK_PERMITS_DIFFER',
    });
    await expect(wait(['c', 'b'], 'other', { permits: 3 })).rejects.toThrow('read lock');
    await writer!.release();
    expect(await waiting).toBeDefined();
    expect(await take(['b'], 'next', { permits: Infinity })).toBeDefined();
  });

  it('rejects a wait whose signal has aborted before it', async () => {
    const { take, wait } = inMemory();
    await take(['a'], '1');
    const gone = new Error('gone');
    await expect(wait(['a'], '2', {}, AbortSignal.abort(gone))).rejects.toBe(gone);
  });

  it('raises tokens from below a bound, of all keys that are held alone', async () => {
    const { take } = inMemory();
    const both = (await take(['a', 'b'], '1')) as unknown as Raising;
    const { fencingToken } = both;
    const to = fencingToken + 100n;
    expect(await both.raiseFencing({ from: fencingToken - 1n, to })).toBe(false);
    expect(await both.raiseFencing({ from: fencingToken, to })).toBe(true);
    const next = await take(['c'], '2');
    expect(next!.fencingToken).toBe(to + 1n);
    expect(await both.raiseFencing({ from: to, to: to - 50n })).toBe(true);
    expect((await take(['d'], '3'))!.fencingToken).toBe(to + 2n);
    const reader = (await take(['e'], '4', { permits: Infinity })) as unknown as Raising;
    expect(await reader.raiseFencing({ from: to + 100n, to: to + 200n })).toBe(false);
  });

  it('raises no token of several keys when one of them has a larger one', async () => {
    const { take } = inMemory();
    const both = (await take(['a', 'b'], '1')) as unknown as Raising;
    await take(['b'], '1');
    const { fencingToken: from } = both;
    expect(await both.raiseFencing({ from, to: from + 100n })).toBe(false);
  });

  it('reports what failed when it extends many', async () => {
    const { store, take } = inMemory();
    const [held, lost] = [(await take(['a'], '1'))!, (await take(['b'], '2'))!];
    await lost.release();
    const error = new Error('broken');
    const failing = { ...held, extend: () => Promise.reject(error) };
    const exceptions = await store.extendMany([held, lost, failing], 1_000);
    expect([...exceptions]).toEqual([
      [lost, false],
      [failing, error],
    ]);
  });

  it('tells its observers of an eviction when the holder is the one that was named', async () => {
    const { store, take } = inMemory();
    const notices: unknown[] = [];
    store.observe((notice) => notices.push(notice));
    const lease = await take(['a'], '1');
    const other = { key: 'a', fencingToken: lease!.fencingToken! + 1n };
    expect(await store.askHolder(other, 100)).toMatchObject({ state: 'other' });
    expect(notices).toEqual([]);
    expect(await store.askHolder({ ...other, fencingToken: lease!.fencingToken! }, 100)).toMatchObject({ state: 'held' }); // prettier-ignore
    expect(notices).toHaveLength(1);
  });
});

interface Raising {
  readonly fencingToken: bigint;
  raiseFencing(range: { readonly from: bigint; readonly to: bigint }): Promise<boolean>;
}
