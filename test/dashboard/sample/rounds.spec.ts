import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import type { LockInspection, LockListQuery, LockPage } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import type { Sample } from '../../../lib/dashboard/sample/sample.js';
import { Sampler } from '../../../lib/dashboard/sample/sampler.js';

/** Counts what it is asked, and hangs when it is told to. */
class CountedStore extends MemoryLockStore {
  lists = 0;
  readonly inspected: string[] = [];
  hangs = false;

  override async list(query: LockListQuery): Promise<LockPage> {
    this.lists++;
    if (this.hangs) await new Promise(() => {});
    return super.list(query);
  }

  override async inspect(key: string): Promise<LockInspection | undefined> {
    this.inspected.push(key);
    return super.inspect(key);
  }
}

describe('The rounds of the sampler', () => {
  let clock: FakeClock;
  let store: CountedStore;
  let locks: LockService;
  let sampler: Sampler;

  beforeEach(() => {
    clock = new FakeClock();
    store = new CountedStore(clock);
    locks = new LockService(store, { clock, ttl: 600_000, storeTimeout: 5_000 });
    sampler = new Sampler(locks, clock);
  });
  afterEach(() => locks.close());

  function look(key?: string) {
    const seen: Sample[] = [];
    const leave = sampler.watch({ key, see: (sample) => seen.push(sample) });
    return { seen, leave };
  }

  it('begin with the first browser that looks, and end with the last', async () => {
    await clock.advance(60_000);
    expect(store.lists).toBe(0);
    const [one, other] = [look(), look()];
    await clock.advance(1);
    expect([store.lists, one.seen.length, other.seen.length]).toEqual([1, 1, 1]);
    one.leave();
    await clock.advance(2_000);
    expect([store.lists, one.seen.length, other.seen.length]).toEqual([2, 1, 2]);
    other.leave();
    await clock.advance(60_000);
    expect([store.lists, clock.pendingTimers]).toEqual([2, 0]);
  });

  it('are no more for those who look again and again', async () => {
    for (let time = 0; time < 39; time++) {
      const { seen, leave } = look();
      await clock.advance(50);
      expect(seen).toHaveLength(1);
      leave();
      await sampler.once(undefined);
    }
    expect(store.lists).toBe(1);
  });

  it('show what the process knows when the store hangs, and then why', async () => {
    await locks.acquire('ours');
    store.hangs = true;
    const { seen } = look();
    await clock.advance(250);
    expect(seen.map(({ locks: rows }) => rows.map(({ key }) => key))).toEqual([['ours']]);
    expect(seen[0]).toMatchObject({ isPartial: true, isComplete: false, failure: undefined });
    await clock.advance(5_000);
    expect(seen[1]).toMatchObject({ isPartial: false, isComplete: false, canList: true });
    expect(seen[1]!.failure).toContain('no answer within 5000 ms');
  });

  it('ask once for a key at which several look', async () => {
    const [one] = [look('free'), look('free'), look('other'), look()];
    await clock.advance(1);
    expect(store.inspected.toSorted()).toEqual(['free']);
    expect(one.seen[0]!.lock('free')).toBeNull();
    await clock.advance(2_000);
    expect(store.inspected.toSorted()).toEqual(['free', 'free', 'other']);
  });
});
