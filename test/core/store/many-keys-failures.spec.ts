import { LockService } from 'nest-holdfast/core';
import type { Lease, LockStoreFeatures } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { tryAcquireAll } from '../../../lib/core/store/many-keys';
import { FakeLease, FakeStore, eventsOf } from '../support/fake-store';
import { deferred, rejectionOf } from '../support/outcome';

/** A store with one lease per key: `leases.a`, `leases.b`, … */
function onLeases(supports: LockStoreFeatures = { fencing: true, ttl: true }) {
  const clock = new FakeClock();
  const store = new FakeStore(supports);
  const leases: Record<string, FakeLease> = {
    a: new FakeLease(),
    b: new FakeLease(),
    c: new FakeLease(),
  };
  store.onAcquire = ({ key }) => Promise.resolve(leases[key]);
  const locks = new LockService(store, { clock, ttl: 3_000, waitTimeout: 0 });
  const releases = () => Object.values(leases).map((lease) => lease.releases);
  return { clock, store, leases, locks, releases, events: eventsOf(locks) };
}

const KEYS = ['a', 'b', 'c'];
const down = () => Promise.reject(new Error('down'));
const broken = () => {
  throw new Error('broken');
};

describe('several keys, one by one, when one is gone', () => {
  it('are lost, and the others given back: they would protect nothing', async () => {
    const { locks, leases, clock, releases, events } = onLeases();
    const lock = await locks.acquire(KEYS);
    leases['b']!.onExtend = () => Promise.resolve(false);
    leases['a']!.onRelease = down;
    await clock.advance(1_000);
    expect(lock.signal.reason).toMatchObject({ reason: 'gone', key: 'a, b, c' });
    expect(releases()).toEqual([1, 1, 1]);
    expect(events).toEqual(['held', 'lost']);
  });

  it('release says so, and releases the others', async () => {
    const { locks, leases, releases } = onLeases();
    const lock = await locks.acquire(KEYS);
    leases['a']!.onRelease = () => Promise.resolve(false);
    expect(await lock.release()).toBe(false);
    expect(lock.state).toBe('lost');
    expect(releases()).toEqual([1, 1, 1]);
  });
});

describe('several keys that the store takes at once, when one is gone', () => {
  const supports = { fencing: true, ttl: true, manyKeys: true };

  it('are lost, and given back: the rest of them would have no holder', async () => {
    const { locks, leases, clock, events } = onLeases(supports);
    const lock = await locks.acquire(KEYS);
    leases['a']!.onExtend = () => Promise.resolve(false);
    leases['a']!.onRelease = down;
    await clock.advance(1_000);
    expect(lock.signal.reason).toMatchObject({ reason: 'gone', key: 'a, b, c' });
    expect(leases['a']!.releases).toBe(1);
    expect(events).toEqual(['held', 'lost']);
  });

  it('are given back when the store says so after they were lost', async () => {
    const { locks, leases, clock } = onLeases(supports);
    const lock = await locks.acquire(KEYS);
    const answer = deferred<boolean>();
    leases['a']!.onExtend = () => answer.promise;
    await clock.advance(3_000);
    expect(lock.state).toBe('lost');
    expect(leases['a']!.releases).toBe(0);
    answer.resolve(false);
    await clock.advance(0);
    expect(leases['a']!.releases).toBeGreaterThan(0);
  });

  it('of which there is one are not given back: nothing is left', async () => {
    const { locks, leases } = onLeases(supports);
    const lock = await locks.acquire('a');
    leases['a']!.onExtend = () => Promise.resolve(false);
    expect(await rejectionOf(lock.extend(1_000))).toMatchObject({ code: 'LOCK_LOST' });
    expect(leases['a']!.releases).toBe(0);
  });
});

describe('several keys, one by one, when the store fails', () => {
  it('an extension is tried again for all', async () => {
    const { locks, leases, clock } = onLeases();
    const lock = await locks.acquire(KEYS);
    leases['c']!.onExtend = down;
    await clock.advance(1_000);
    expect(lock.state).toBe('jeopardy');
    leases['c']!.onExtend = () => Promise.resolve(true);
    await clock.advance(300);
    expect(lock.state).toBe('held');
    expect(leases['a']!.extensions).toEqual([3_000, 3_000]);
  });

  it.each([
    ['fails', down],
    ['throws', broken],
  ])('a release that %s does not keep the others', async (_, onRelease) => {
    const { locks, leases, releases, events } = onLeases();
    const lock = await locks.acquire(KEYS);
    leases['a']!.onRelease = onRelease;
    expect(await lock.release()).toBe(false);
    expect(releases()).toEqual([1, 1, 1]);
    expect(events).toEqual(['held', 'released', 'releaseFailed']);
  });

  it('an attempt that fails, and whose clean-up fails, is reported with the first error', async () => {
    const { locks, store, leases, releases } = onLeases();
    leases['a']!.onRelease = down;
    leases['b']!.onRelease = broken;
    store.onAcquire = ({ key }) =>
      key === 'c' ? Promise.reject(new Error('first')) : Promise.resolve(leases[key]);
    expect(await rejectionOf(locks.acquire(KEYS))).toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: 'Lock store "fake" failed for "a, b, c": first',
    });
    expect(releases()).toEqual([1, 1, 0]);
  });

  it('an attempt that found a key held but cannot give back the others is an error', async () => {
    const { locks, store, leases } = onLeases();
    leases['a']!.onRelease = down;
    store.onAcquire = ({ key }) => Promise.resolve(key === 'b' ? undefined : leases[key]);
    expect(await rejectionOf(locks.acquire(KEYS))).toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });
});

describe('raising the fencing token of several keys', () => {
  function onUnequal() {
    const around = onLeases();
    around.leases['a']!.fencingToken = 3n;
    around.leases['b']!.fencingToken = 9n;
    around.leases['c']!.fencingToken = 9n;
    return around;
  }

  it('asks for the same key with the same token again, and a floor', async () => {
    const { locks, store } = onUnequal();
    const lock = await locks.acquire(KEYS);
    expect(lock.fencingToken).toBe(9n);
    const [first, , , raised] = store.requests;
    expect(store.requests).toHaveLength(4);
    expect(raised).toEqual({ ...first, fencingFloor: 9n });
    expect(raised).toMatchObject({ key: 'a', keys: ['a'] });
  });

  it.each([
    ['fails', down, 'down'],
    [
      'finds that a key was lost in the meantime',
      () => Promise.resolve(undefined),
      'a key was lost while the others were taken',
    ],
  ])('gives all back when it %s', async (_, answer: () => Promise<Lease | undefined>, why) => {
    const { locks, store, leases, releases } = onUnequal();
    store.onAcquire = ({ key, fencingFloor }) =>
      fencingFloor === undefined ? Promise.resolve(leases[key]) : answer();
    expect(await rejectionOf(locks.acquire(KEYS))).toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: `Lock store "fake" failed for "a, b, c": ${why}`,
    });
    expect(releases()).toEqual([1, 1, 1]);
  });

  it('is left out where the store has none', async () => {
    const { locks, store, leases } = onLeases({ fencing: false, ttl: true });
    leases['b']!.fencingToken = 9n;
    const lock = await locks.acquire(KEYS);
    expect(store.requests).toHaveLength(3);
    expect(() => lock.fencingToken).toThrow('has no fencing tokens');
  });
});

describe('the lease of one attempt', () => {
  const request = (keys: readonly string[]) => ({ key: keys[0]!, keys, token: 't', ttl: 1_000 });

  it('is that of the store where it is for one key', async () => {
    const { store, leases } = onLeases();
    const asked = request(['a']);
    expect(await tryAcquireAll(store, asked)).toBe(leases['a']);
    expect(store.requests[0]).toBe(asked);
  });

  it('is that of the store where the store takes several at once', async () => {
    const { store, leases } = onLeases({ fencing: true, ttl: true, manyKeys: true });
    const asked = request(KEYS);
    expect(await tryAcquireAll(store, asked)).toBe(leases['a']);
    expect(store.requests).toEqual([asked]);
  });

  it('has no session to end where the leases have none', async () => {
    const { store } = onLeases();
    expect((await tryAcquireAll(store, request(KEYS)))!.lost).toBeUndefined();
  });
});

describe('keys that are taken one by one', () => {
  it.each(['at the end of the wait', 'as the signal aborts'])(
    'are not taken any more when no caller waits, and the taken ones are given back: %s',
    async (end) => {
      const { store, leases, locks, clock, releases } = onLeases();
      const answers: (() => void)[] = [];
      store.onAcquire = ({ key }) =>
        new Promise((resolve) => answers.push(() => resolve(leases[key])));
      const leaving = new AbortController();
      const { signal } = leaving;
      const failed = rejectionOf(locks.acquire(KEYS, { waitTimeout: 1_000, signal }));
      answers[0]!();
      await clock.advance(0);
      if (end === 'as the signal aborts') leaving.abort(new Error('gone'));
      else await clock.advance(1_000);
      await failed;
      answers[1]!();
      await clock.advance(60_000);
      expect(store.requests).toHaveLength(2);
      expect(releases()).toEqual([1, 1, 0]);
    },
  );
});

describe('several keys that live by sessions', () => {
  it('are known to be lost before any timer could say so', async () => {
    const { leases, store } = onLeases();
    const session = new AbortController();
    leases['b']!.lost = session.signal;
    const lease = await tryAcquireAll(store, { key: 'a', keys: KEYS, token: 't', ttl: 1_000 });
    expect(lease!.lost!.aborted).toBe(false);
    jest.spyOn(session.signal, 'aborted', 'get').mockReturnValue(true);
    expect(lease!.lost!.aborted).toBe(true);
  });

  it('are lost with the first session that ends', async () => {
    const { locks, leases } = onLeases({ fencing: true, ttl: false });
    const sessions = { a: new AbortController(), c: new AbortController() };
    leases['a']!.lost = sessions.a.signal;
    leases['c']!.lost = sessions.c.signal;
    const lock = await locks.acquire(KEYS);
    expect(lock.isHeld).toBe(true);
    sessions.c.abort();
    expect(lock.signal.reason).toMatchObject({ reason: 'session' });
  });
});
