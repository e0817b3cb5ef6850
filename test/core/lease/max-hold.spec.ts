import * as fc from 'fast-check';
import { deferred, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

const session = { fencing: true, ttl: false, manyKeys: true };

describe('maxHold', () => {
  it('ends a healthy lock, with the reason max-hold', async () => {
    const { locks, clock, events } = onFakeStore({ ttl: 300, maxHold: 1_000 });
    const lock = await locks.acquire('a');
    const { signal } = lock;
    await clock.advance(900);
    expect(lock.isHeld).toBe(true);
    await clock.advance(100);
    expect(lock.state).toBe('lost');
    expect(signal.reason).toMatchObject({
      reason: 'max-hold',
      message: 'Lock "a" is no longer held: maxHold was reached',
    });
    expect(events).toEqual(['held', 'lost']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('tells by `overdue` what was held too long, and not what expired', async () => {
    const { locks, clock } = onFakeStore({ ttl: 300, maxHold: 1_000 });
    const overdue = jest.fn();
    locks.events.on('overdue', overdue);
    await locks.acquire('a', { autoExtend: false });
    await clock.advance(2_000);
    expect(overdue).not.toHaveBeenCalled();
    await locks.acquire('b', { maxHold: 500 });
    await clock.advance(500);
    const event = expect.objectContaining({ key: 'b', isLost: true, maxHold: 500, heldFor: 495 });
    expect(overdue.mock.calls).toEqual([[event]]);
  });

  describe('of a request', () => {
    const MINUTE = 60_000;

    it.each([
      ['five minutes', {}, {}, 5 * MINUTE],
      ['what the defaults of its service say', { maxHold: 7 * MINUTE }, {}, 7 * MINUTE],
      ['what its options say', { maxHold: 7 * MINUTE }, { maxHold: MINUTE }, MINUTE],
      ['never less than minHold', {}, { minHold: 9 * MINUTE }, 9 * MINUTE],
    ])('is %s', async (_, defaults, options, maxHold) => {
      const { locks, clock } = onFakeStore(defaults);
      const { lock } = await locks.enterRequest('a', options);
      await clock.advance(maxHold - 1_000);
      expect(lock.isHeld).toBe(true);
      await clock.advance(1_000);
      expect(lock.state).toBe('lost');
    });

    it('may be Infinity where an option says so', async () => {
      const { locks, clock } = onFakeStore({ maxHold: Infinity });
      const { lock } = await locks.enterRequest('a');
      await clock.advance(60 * MINUTE);
      expect(lock.isHeld).toBe(true);
    });
  });

  it('caps the last extension, so that the key is free in time', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 300, maxHold: 450 });
    const lock = await locks.acquire('a');
    await clock.advance(99);
    expect(lease.extensions).toEqual([]);
    await clock.advance(100);
    expect(lease.extensions).toEqual([300]);
    await clock.advance(251);
    expect(lease.extensions).toEqual([300, 250]);
    expect(lock.isHeld).toBe(false);
  });

  it('frees the key when it is reached', async () => {
    const { locks, others, clock } = inMemory({ ttl: 300, maxHold: 1_000 });
    await locks.acquire('a');
    await clock.advance(980);
    expect(await others.tryAcquire('a')).toBeUndefined();
    await clock.advance(20);
    expect(await others.tryAcquire('a')).toBeDefined();
  });

  it('below the ttl caps the ttl itself, and nothing is extended', async () => {
    const { locks, store, lease, clock } = onFakeStore({ ttl: 30_000, maxHold: 100 });
    const lock = await locks.acquire('a');
    expect(store.requests[0]!.ttl).toBe(100);
    expect(lock.remaining).toBe(97);
    await clock.advance(97);
    expect(lock.state).toBe('lost');
    expect(() => lock.assertHeld()).toThrow('maxHold was reached');
    expect(lease.extensions).toEqual([]);
  });

  it('equal to the ttl is not extended either; a little more is, once', async () => {
    for (const [maxHold, extensions] of [
      [300, []],
      [301, [201]],
    ] as const) {
      const { locks, lease, clock } = onFakeStore({ ttl: 300, maxHold });
      await locks.acquire('a');
      await clock.advance(1_000);
      expect(lease.extensions).toEqual(extensions);
    }
  });

  it('counts from before the request was sent', async () => {
    const { locks, store, lease, clock } = onFakeStore({ ttl: 1_000, maxHold: 3_000 });
    const answer = deferred<typeof lease>();
    store.onAcquire = () => answer.promise;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(500);
    answer.resolve(lease);
    await clock.advance(2_499);
    expect(acquired.value!.isHeld).toBe(false);
    expect(lease.extensions.at(-1)).toBeLessThan(1_000);
  });

  it('cannot be outrun by extend', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 1_000, maxHold: 3_000 });
    const lock = await locks.acquire('a');
    await clock.advance(300);
    await lock.extend(60_000);
    expect(lease.extensions).toEqual([2_700]);
    expect(lock.remaining).toBe(2_700 - 27 - 2);
    await clock.advance(2_700);
    expect(lock.state).toBe('lost');
    expect(lease.extensions).toHaveLength(1);
  });

  it('still allows a lock to be released before', async () => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 300, maxHold: 1_000 });
    const lock = await locks.acquire('a');
    await clock.advance(950);
    expect(await lock.release()).toBe(true);
    await clock.advance(1_000);
    expect(events).toEqual(['held', 'released']);
    expect(lease.releases).toBe(1);
  });

  it('with any value: no lock outlives it, and there is no rush of extensions before it', async () => {
    const ttls = fc.integer({ min: 20, max: 60_000 });
    await fc.assert(
      fc.asyncProperty(ttls, fc.double({ min: 0.1, max: 8, noNaN: true }), async (ttl, factor) => {
        const maxHold = Math.max(10, Math.round(ttl * factor));
        const { locks, lease, clock } = onFakeStore({ ttl, maxHold });
        const lock = await locks.acquire('a');
        const asked: number[] = [];
        lease.onExtend = (more) => {
          asked.push(clock.now() + more - 50_000);
          return Promise.resolve(true);
        };
        await clock.advance(maxHold);
        expect(lock.isHeld).toBe(false);
        expect(lock.signal.reason).toMatchObject({ reason: 'max-hold' });
        expect(asked.length).toBeLessThanOrEqual(Math.ceil(3 * factor) + 1);
        for (const end of asked) expect(end).toBeLessThanOrEqual(maxHold + 0.001);
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

describe('maxHold where the store has no ttl', () => {
  it('ends the lock, and frees the key, which would have no holder', async () => {
    const { locks, lease, clock, events } = onFakeStore({ maxHold: 60_000 }, session);
    const lock = await locks.acquire('a');
    expect(lock.remaining).toBe(60_000);
    await clock.advance(59_999);
    expect(lock.isHeld).toBe(true);
    expect(lease.releases).toBe(0);
    await clock.advance(1);
    expect(lock.signal.reason).toMatchObject({ reason: 'max-hold' });
    expect(lease.releases).toBe(1);
    expect(events).toEqual(['held', 'lost']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('reports a release that failed', async () => {
    const { locks, lease, clock, events } = onFakeStore({ maxHold: 100 }, session);
    lease.onRelease = () => Promise.reject(new Error('down'));
    await locks.acquire('a');
    await clock.advance(100);
    expect(events).toEqual(['held', 'lost', 'releaseFailed']);
  });
});
