import { LockService } from 'nest-holdfast/core';
import type { Lease, LockOptions, StoreNotice } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { FakeLease, FakeStore, eventsOf } from '../support/fake-store';
import { deferred, never } from '../support/outcome';

const TTL = 3_000;
const COUNT = 250;

type Exceptions = ReadonlyMap<Lease, unknown>;

/** A store that extends many leases by one question, unless told otherwise with success. */
class BundlingStore extends FakeStore {
  readonly calls: { readonly leases: readonly Lease[]; readonly ttl: number }[] = [];
  onExtendMany: (leases: readonly Lease[]) => Promise<Exceptions> = () =>
    Promise.resolve(new Map());
  #tell!: (notice: StoreNotice) => void;

  extendMany(leases: readonly Lease[], ttl: number): Promise<Exceptions> {
    this.calls.push({ leases, ttl });
    return this.onExtendMany(leases);
  }

  observe(tell: (notice: StoreNotice) => void): void {
    this.#tell = tell;
  }

  doubt(): void {
    this.#tell({ type: 'doubt', reason: 'a failover' });
  }
}

/** Many locks that are held, and the leases that they have. */
async function holding(options: LockOptions = {}, count = COUNT) {
  const clock = new FakeClock(50_000);
  const store = new BundlingStore();
  const locks = new LockService(store, { clock, ttl: TTL, ...options });
  const leases: FakeLease[] = [];
  store.onAcquire = () => {
    const lease = new FakeLease();
    leases.push(lease);
    return Promise.resolve(lease);
  };
  const keys = Array.from({ length: count }, (_, index) => `key:${index}`);
  const held = await Promise.all(keys.map((key) => locks.acquire(key)));
  await clock.advance(TTL / 3); // the first of them were still few, and each was extended for itself
  store.calls.length = 0;
  for (const { extensions } of leases) extensions.length = 0;
  const events = eventsOf(locks);
  return { clock, store, locks, held, leases, events, from: clock.now() };
}

describe('On a store with extendMany, the extensions of many locks', () => {
  it('go to it in calls of at most a hundred, one for each lock', async () => {
    const { clock, store, leases, held } = await holding();
    await clock.advance(TTL / 3);
    expect(store.calls.length).toBeLessThanOrEqual(4);
    expect(Math.max(...store.calls.map((call) => call.leases.length))).toBeLessThanOrEqual(100);
    const asked = store.calls.flatMap((call) => call.leases);
    expect(new Set(asked)).toEqual(new Set(leases));
    expect(asked).toHaveLength(COUNT);
    expect(store.calls.every(({ ttl }) => ttl === TTL)).toBe(true);
    expect(leases.every(({ extensions }) => extensions.length === 0)).toBe(true);
    await clock.advance(10 * TTL);
    expect(held.every(({ isHeld }) => isHeld)).toBe(true);
  });

  it('count from before they were sent', async () => {
    const { clock, store, held, leases } = await holding();
    const answer = deferred<Exceptions>();
    store.onExtendMany = () => answer.promise;
    while (store.calls.length === 0) await clock.advance(10);
    const index = leases.indexOf(store.calls[0]!.leases[0] as FakeLease);
    await clock.advance(500);
    answer.resolve(new Map());
    await clock.advance(0);
    expect(held[index]!.remaining).toBeLessThanOrEqual(TTL - TTL * 0.01 - 2 - 500);
    expect(held[index]!.remaining).toBeGreaterThan(TTL - TTL * 0.01 - 2 - 511);
  });

  it('end one lock alone that is no longer ours, and put one in jeopardy alone that failed', async () => {
    const { clock, store, held, leases, events } = await holding();
    const failure = new Error('WRONGTYPE');
    store.onExtendMany = async (asked) => {
      const exceptions = new Map<Lease, unknown>();
      if (asked.includes(leases[7]!)) exceptions.set(leases[7]!, false);
      if (asked.includes(leases[8]!)) exceptions.set(leases[8]!, failure);
      return exceptions;
    };
    await clock.advance(TTL / 3);
    expect(held.filter(({ state }) => state !== 'held').map(({ key }) => key)).toEqual([
      'key:7',
      'key:8',
    ]);
    expect(held[7]!.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
    expect(held[8]!.state).toBe('jeopardy');
    store.onExtendMany = () => Promise.resolve(new Map());
    await clock.advance(TTL / 10);
    expect(held[8]!.state).toBe('held');
    expect(events).toEqual(expect.arrayContaining(['lost', 'jeopardy', 'recovered']));
  });

  it('are asked for together again at a tenth of the ttl when a call fails', async () => {
    const { clock, store, held, leases } = await holding();
    store.onExtendMany = () => Promise.reject(new Error('down'));
    await clock.advance(TTL / 3);
    expect(held.every(({ state }) => state === 'jeopardy')).toBe(true);
    expect(store.calls.length).toBeLessThanOrEqual(12); // some have failed twice by now
    store.onExtendMany = () => Promise.resolve(new Map());
    store.calls.length = 0;
    await clock.advance(TTL / 10);
    expect(held.every(({ state }) => state === 'held')).toBe(true);
    expect(store.calls.length).toBeLessThanOrEqual(4);
    expect(leases.every(({ extensions }) => extensions.length === 0)).toBe(true);
  });

  it('are bounded: the locks of a call that hangs are asked for again, and end with their validity', async () => {
    const { clock, store, held, leases } = await holding();
    const open: ReturnType<typeof deferred<Exceptions>>[] = [];
    store.onExtendMany = () => {
      open.push(deferred<Exceptions>());
      return open.at(-1)!.promise;
    };
    for (const lease of leases) lease.onExtend = never; // the rest of a ttl may be too short for a call with others
    await clock.advance(TTL);
    expect(held.every(({ isHeld }) => !isHeld)).toBe(true);
    expect(open.length).toBeGreaterThan(5);
    for (const each of open) each.resolve(new Map()); // the store has extended leases that have no holder now
    await clock.advance(0);
    expect(leases.every(({ releases }) => releases > 0)).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('count, too, where the answer comes after the call has failed', async () => {
    const { clock, store, leases, held } = await holding();
    const open: ReturnType<typeof deferred<Exceptions>>[] = [];
    store.onExtendMany = () => {
      open.push(deferred<Exceptions>());
      return open.at(-1)!.promise;
    };
    for (const lease of leases) lease.onExtend = never;
    await clock.advance(TTL * 0.7);
    expect(held.map(({ state }) => state)).toEqual(held.map(() => 'jeopardy'));
    const gone = store.calls[0]!.leases[0]!;
    open[0]!.resolve(new Map([[gone, false]]));
    await clock.advance(0);
    const stateOf = (lease: Lease) => held[leases.indexOf(lease as FakeLease)]!.state;
    const states = store.calls[0]!.leases.map(stateOf);
    expect(states).toEqual(states.map((_, index) => (index === 0 ? 'lost' : 'held')));
  });

  it('that are answered with anything but a Map have failed', async () => {
    const { clock, store, held, leases } = await holding();
    for (const lease of leases) lease.onExtend = never;
    store.onExtendMany = () => Promise.resolve(undefined as never);
    await clock.advance(TTL / 3);
    expect(held.every(({ state }) => state === 'jeopardy')).toBe(true);
    store.onExtendMany = () => {
      throw new Error('at once');
    };
    await clock.advance(TTL);
    expect(held.every(({ isHeld }) => !isHeld)).toBe(true);
  });

  it('go before what a holder asks for meanwhile', async () => {
    const { clock, store, held, leases } = await holding();
    const answer = deferred<Exceptions>();
    store.onExtendMany = () => answer.promise;
    while (store.calls.length === 0) await clock.advance(10);
    const index = leases.indexOf(store.calls[0]!.leases[0] as FakeLease);
    const extended = held[index]!.extend(500);
    await clock.advance(0);
    expect(leases[index]!.extensions).toEqual([]);
    answer.resolve(new Map());
    await extended;
    expect(leases[index]!.extensions).toEqual([500]);
    expect(held[index]!.remaining).toBeLessThan(500);
  });

  it('leave a lock alone that is given back while they are under way', async () => {
    const { clock, store, held, leases, events } = await holding();
    const answer = deferred<Exceptions>();
    store.onExtendMany = () => answer.promise;
    while (store.calls.length === 0) await clock.advance(10);
    const asked = store.calls[0]!.leases;
    const index = leases.indexOf(asked[0] as FakeLease);
    expect(await held[index]!.release()).toBe(true);
    answer.resolve(new Map([[asked[0]!, false]]));
    store.onExtendMany = () => Promise.resolve(new Map());
    await clock.advance(TTL);
    expect(events).toEqual(['released']);
    expect(leases[index]!.releases).toBe(1);
  });

  it('leave nothing behind once all locks are given back', async () => {
    const { clock, store, held } = await holding();
    await clock.advance(TTL);
    await Promise.all(held.map((lock) => lock.release()));
    expect(clock.pendingTimers).toBe(0);
    store.calls.length = 0;
    await clock.advance(TTL);
    expect(store.calls).toEqual([]);
  });

  it('stop with one that ends in the same moment', async () => {
    const { clock, store, held } = await holding();
    store.onExtendMany = async (asked) => new Map(asked.map((lease) => [lease, false]));
    await clock.advance(TTL / 3);
    expect(held.every(({ state }) => state === 'lost')).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ask for no more than maxHold leaves', async () => {
    const { clock, store, held, leases } = await holding({ maxHold: 6_600 });
    await clock.advance(2 * TTL);
    expect(held.every(({ isHeld }) => !isHeld)).toBe(true);
    expect(held[0]!.signal.reason).toMatchObject({ reason: 'max-hold' });
    expect(store.calls.every(({ ttl }) => ttl === TTL)).toBe(true);
    const last = leases.flatMap(({ extensions }) => extensions);
    expect(Math.max(...last)).toBeLessThan(TTL);
  });

  it('leave out those of several keys that core has put together', async () => {
    const { clock, store, locks, leases } = await holding();
    Object.assign(store.supports, { manyKeys: false });
    const several = await locks.acquire(['a', 'b']);
    await clock.advance(TTL);
    expect(several.isHeld).toBe(true);
    expect(leases.slice(COUNT).every(({ extensions }) => extensions.length >= 2)).toBe(true);
    const asked = store.calls.flatMap((call) => call.leases);
    expect(asked.every((lease) => leases.includes(lease as FakeLease))).toBe(true);
  });

  it('have a call for each ttl', async () => {
    const { clock, store, locks } = await holding();
    const others = Array.from({ length: 20 }, (_, index) =>
      locks.acquire(`other:${index}`, { ttl: 2 * TTL }),
    );
    await Promise.all(others);
    await clock.advance((2 * TTL) / 3);
    const long = store.calls.filter(({ ttl }) => ttl === 2 * TTL);
    expect(long.map((call) => call.leases.length)).toEqual([20]);
  });
});

describe('On a store with extendMany, a doubt', () => {
  it('confirms many locks in calls of at most a hundred', async () => {
    const { clock, store, held, leases, events } = await holding();
    await clock.advance(10);
    store.calls.length = 0;
    store.doubt();
    expect(held.every(({ state }) => state === 'jeopardy')).toBe(true);
    expect(store.calls.map((call) => call.leases.length)).toEqual([100, 100, 50]);
    await clock.advance(0);
    expect(held.every(({ state }) => state === 'held')).toBe(true);
    expect(leases.every(({ extensions }) => extensions.length === 0)).toBe(true);
    expect(events.filter((name) => name === 'recovered')).toHaveLength(COUNT);
  });

  it('asks once more for those that are asked for already, and waits for that', async () => {
    const { clock, store, held, leases } = await holding();
    store.onExtendMany = never;
    while (store.calls.length === 0) await clock.advance(10);
    const asked = store.calls[0]!.leases as readonly FakeLease[];
    store.doubt();
    expect(asked.every(({ extensions }) => extensions.length === 0)).toBe(true);
    await clock.advance(TTL / 3);
    expect(asked.every(({ extensions }) => extensions.length === 1)).toBe(true);
    expect(leases.length).toBe(held.length);
  });
});

it('one lock more or less: a few are extended each for itself', async () => {
  const { clock, store, leases } = await holding({}, 20);
  await clock.advance(TTL / 3);
  expect(store.calls).toEqual([]);
  expect(leases.every(({ extensions }) => extensions.length === 1)).toBe(true);
});

it('A doubt extends locks that are not extended by themselves one by one, for the rest of their ttl', async () => {
  const clock = new FakeClock(50_000);
  const store = new BundlingStore();
  const locks = new LockService(store, { clock, ttl: TTL, autoExtend: false });
  for (const key of ['a', 'b']) await locks.acquire(key);
  await clock.advance(1_000);
  store.doubt();
  await clock.advance(0);
  expect(store.calls).toEqual([]);
  expect(store.lease.extensions).toHaveLength(2);
  expect(Math.max(...store.lease.extensions)).toBeLessThanOrEqual(TTL - 1_000);
  await locks.close();
});
