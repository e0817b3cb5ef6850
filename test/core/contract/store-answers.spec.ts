import { LockStoreError } from 'nest-holdfast/core';
import type { Lease } from 'nest-holdfast/core';
import { FakeLease, PassableLease } from '../support/fake-store';
import { rejectionOf } from '../support/outcome';
import { onFakeStore, onQueueStore } from '../support/setup';

/** Answers that a store without types may give. */
const NONSENSE: readonly unknown[] = [null, false, true, 0, 1, '', 'QUEUED', {}, [], [1], () => 1];
const named = (values: readonly unknown[]) => values.map((value) => [String(value) || '""', value]);

/** Leases that lack something. */
const HALF_LEASES: Record<string, unknown> = {
  'a lease that cannot be extended': { release: () => Promise.resolve(true) },
  'a lease that cannot be released': { extend: () => Promise.resolve(true) },
  'a fencing token that is a number': Object.assign(new FakeLease(), { fencingToken: 7 }),
  'a fencing token that is null': Object.assign(new FakeLease(), { fencingToken: null }),
  'a lost that is no signal': Object.assign(new FakeLease(), { lost: true }),
  'a handOff that is no method': Object.assign(new FakeLease(), { handOff: true }),
  'a handOffRaising that is no method': Object.assign(new FakeLease(), { handOffRaising: true }),
  'a downgrade that is no method': Object.assign(new FakeLease(), { downgrade: 'yes' }),
};

const UNKNOWN = { code: 'LOCK_STORE_FAILED', message: expect.stringContaining('not understood') };

describe('the answer of a store to an attempt', () => {
  it.each([...named(NONSENSE), ...Object.entries(HALF_LEASES)])(
    'is no grant: %s',
    async (_, it) => {
      const { locks, store } = onFakeStore();
      store.onAcquire = () => Promise.resolve(it as Lease);
      expect(await rejectionOf(locks.acquire('a'))).toMatchObject(UNKNOWN);
      expect(await rejectionOf(locks.tryAcquire('a'))).toMatchObject(UNKNOWN);
      expect(await rejectionOf(locks.withLock('a', () => {}))).toBeInstanceOf(LockStoreError);
    },
  );

  it('may come at once', async () => {
    const { locks, store, lease } = onFakeStore();
    store.onAcquire = () => lease as unknown as Promise<Lease>;
    const lock = await locks.acquire('a');
    lease.onRelease = () => true as unknown as Promise<boolean>;
    expect(await lock.release()).toBe(true);
  });

  it('is given back where it can be', async () => {
    const { locks, store } = onFakeStore();
    const lease = Object.assign(new FakeLease(), { fencingToken: 7 as unknown as bigint });
    store.onAcquire = () => Promise.resolve(lease);
    await rejectionOf(locks.acquire('a'));
    expect(lease.releases).toBe(1);
  });

  it('for one of several keys gives all of them back', async () => {
    const { locks, store } = onFakeStore(undefined, { fencing: true, ttl: true });
    const leases = [new FakeLease(), Object.assign(new FakeLease(), { lost: 1 as never })];
    store.onAcquire = () => Promise.resolve(leases[store.requests.length - 1]);
    expect(await rejectionOf(locks.acquire(['a', 'b']))).toMatchObject(UNKNOWN);
    expect(leases.map(({ releases }) => releases)).toEqual([1, 1]);
  });

  it.each(named([undefined, ...NONSENSE]))('is no grant to one who waited: %s', async (_, it) => {
    const { locks, store } = onQueueStore();
    const waiting = rejectionOf(locks.acquire('a'));
    await new Promise(setImmediate);
    store.waiters.shift()!.grant(it as Lease);
    expect(await waiting).toMatchObject(UNKNOWN);
  });

  it.each(named([undefined, ...NONSENSE.filter((each) => typeof each !== 'boolean')]))(
    'makes no lock of a claim: %s',
    async (_, it) => {
      const { locks, store, lease } = onQueueStore();
      lease.onExtend = () => Promise.resolve(it as boolean);
      const waiting = rejectionOf(locks.acquire('a'));
      await new Promise(setImmediate);
      store.grant();
      expect(await waiting).toMatchObject(UNKNOWN);
      expect(lease.releases).toBe(1);
    },
  );
});

const NO_BOOLEANS = [undefined, ...NONSENSE.filter((each) => typeof each !== 'boolean')];

describe('the answer of a lease', () => {
  it.each(named(NO_BOOLEANS))('confirms no extension: %s', async (_, it) => {
    const { locks, lease, events } = onFakeStore();
    const lock = await locks.acquire('a');
    lease.onExtend = () => Promise.resolve(it as boolean);
    expect(await rejectionOf(lock.extend(1_000))).toMatchObject(UNKNOWN);
    expect(lock.isHeld).toBe(true);
    lease.onExtend = () => Promise.resolve(true);
    await lock.extend(1_000);
    expect(events).toEqual(['held']);
  });

  it.each(named(NO_BOOLEANS))(
    'leaves a lock in jeopardy that is to be extended: %s',
    async (_, it) => {
      const { locks, lease, events, clock } = onFakeStore({ ttl: 900 });
      await locks.acquire('a');
      lease.onExtend = () => Promise.resolve(it as boolean);
      await clock.advance(350);
      expect(events).toEqual(['held', 'jeopardy']);
      await clock.advance(900);
      expect(events.at(-1)).toBe('lost');
    },
  );

  it.each(named(NO_BOOLEANS))('confirms no release: %s', async (_, it) => {
    const { locks, lease, events } = onFakeStore();
    const lock = await locks.acquire('a');
    lease.onRelease = () => Promise.resolve(it as boolean);
    expect(await lock.release()).toBe(false);
    expect(events).toEqual(['held', 'released', 'releaseFailed']);
  });

  it.each(named(NO_BOOLEANS))('makes no reader of a writer: %s', async (_, it) => {
    const { locks, store } = onFakeStore();
    const lease = Object.assign(new FakeLease(), { downgrade: () => Promise.resolve(it) });
    store.onAcquire = () => Promise.resolve(lease as unknown as Lease);
    const lock = await locks.acquire('a');
    expect(await rejectionOf(lock.downgrade())).toMatchObject(UNKNOWN);
  });

  it.each(named(NONSENSE))('passes nothing on: %s', async (_, it) => {
    const { locks, store } = onFakeStore();
    const lease = new PassableLease();
    lease.onPass = () => it as Lease;
    store.onAcquire = () => Promise.resolve(lease);
    const lock = await locks.acquire('a');
    const next = locks.acquire('a');
    expect(await lock.release()).toBe(true);
    expect(lease.releases).toBe(1);
    expect((await next).isHeld).toBe(true);
  });

  it.each(named(NONSENSE))('passes nothing on, when it is asked later: %s', async (_, it) => {
    const { locks, store } = onFakeStore();
    const lease = new PassableLease();
    lease.onPass = () => Promise.resolve(it as Lease);
    store.onAcquire = () => Promise.resolve(lease);
    const lock = await locks.acquire('a');
    const next = rejectionOf(locks.acquire('a'));
    expect(await lock.release()).toBe(false);
    expect(await next).toMatchObject(UNKNOWN);
    expect(lease.releases).toBe(1);
  });
});

it.each(named(NONSENSE))('an inspection is none: %s', async (_, inspection) => {
  const { locks, store } = onFakeStore();
  Object.assign(store, { inspect: () => Promise.resolve(inspection) });
  expect(await rejectionOf(locks.inspect('a'))).toMatchObject(UNKNOWN);
});

/** Fields of an inspection that a store without types may get wrong. */
const WRONG_FIELDS: readonly object[] = [
  { holder: 7 },
  { holder: null },
  { holders: 'a' },
  { holders: [1] },
  { remaining: '5' },
  { heldFor: 5n },
  { heldFor: NaN },
  { fencingToken: 5 },
  { waiters: {} },
  { waiterCount: null },
  { permits: 'unlimited' },
];

it.each(WRONG_FIELDS)(
  'an inspection with a wrong field is none, alone and in a list: %p',
  async (field) => {
    const { locks, store } = onFakeStore();
    const lock = { key: 'a', ...field };
    Object.assign(store, {
      inspect: () => Promise.resolve(lock),
      list: () => Promise.resolve({ locks: [{ key: 'b' }, lock] }),
    });
    const error = await rejectionOf(locks.inspect('a'));
    expect(error).toMatchObject(UNKNOWN);
    expect(String(error)).toContain(`whose \`${Object.keys(field)[0]!}\` is`);
    expect(await rejectionOf(locks.list())).toMatchObject(UNKNOWN);
  },
);
