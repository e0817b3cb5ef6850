import * as fc from 'fast-check';
import { deferred, never } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

describe('a held lock', () => {
  it('is extended at a third of its ttl, again and again', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 3_000 });
    const lock = await locks.acquire('a');
    await clock.advance(999);
    expect(lease.extensions).toEqual([]);
    await clock.advance(1);
    expect(lease.extensions).toEqual([3_000]);
    expect(lock.remaining).toBe(2_968);
    await clock.advance(10_000);
    expect(lease.extensions).toHaveLength(11);
    expect(lock.isHeld).toBe(true);
  });

  it('is extended a third of the ttl after the last extension was SENT', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 3_000 });
    const sent: number[] = [];
    await locks.acquire('a');
    lease.onExtend = async () => {
      sent.push(clock.now() - 50_000);
      const answer = deferred<boolean>();
      clock.schedule(400, () => answer.resolve(true));
      return answer.promise;
    };
    await clock.advance(3_000);
    expect(sent).toEqual([1_000, 2_000, 3_000]);
  });

  it('stays in the store for hours', async () => {
    const { locks, others, clock } = inMemory({ ttl: 3_000 });
    const lock = await locks.acquire('a');
    await clock.advance(3_600_000);
    expect(lock.isHeld).toBe(true);
    expect(await others.tryAcquire('a')).toBeUndefined();
  });

  it('that was made while its third had already passed is extended at once', async () => {
    const { locks, store, lease, clock } = onFakeStore({ ttl: 3_000 });
    store.onAcquire = async () => {
      clock.jump(1_500);
      return lease;
    };
    await locks.acquire('a');
    await clock.advance(0);
    expect(lease.extensions).toEqual([3_000]);
  });

  it('is not extended with autoExtend: false, and ends with its ttl', async () => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 3_000, autoExtend: false });
    const lock = await locks.acquire('a');
    const { signal } = lock;
    await clock.advance(2_967);
    expect(lock.isHeld).toBe(true);
    await clock.advance(1);
    expect(lock.isHeld).toBe(false);
    expect(signal.reason).toMatchObject({ reason: 'expired' });
    expect(lease.extensions).toEqual([]);
    expect(events).toEqual(['held', 'lost']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not extended where the store has no ttl', async () => {
    const { locks, lease, clock } = onFakeStore({}, { fencing: true, ttl: false });
    await locks.acquire('a');
    await clock.advance(3_600_000);
    expect(lease.extensions).toEqual([]);
  });
});

describe('a failed extension', () => {
  it('is not a loss: it is tried again, a tenth of the ttl later', async () => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 3_000 });
    const lock = await locks.acquire('a');
    const recovered = jest.fn();
    locks.events.on('recovered', recovered);
    const at: number[] = [];
    lease.onExtend = () => {
      at.push(clock.now() - 50_000);
      return at.length < 4 ? Promise.reject(new Error('down')) : Promise.resolve(true);
    };
    await clock.advance(1_000);
    expect(lock.state).toBe('jeopardy');
    expect(lock.isHeld).toBe(true);
    await clock.advance(899);
    expect(events).toEqual(['held', 'jeopardy', 'jeopardy', 'jeopardy']);
    await clock.advance(1);
    expect(at).toEqual([1_000, 1_300, 1_600, 1_900]);
    expect(lock.state).toBe('held');
    expect(events.slice(4)).toEqual(['recovered']);
    expect(recovered.mock.calls).toEqual([
      [expect.objectContaining({ key: 'a', fencingToken: 7n, heldFor: 1_900 })],
    ]);
    await clock.advance(1_000);
    expect(at.at(-1)).toBe(2_900); // back to a third
    expect(events).toHaveLength(5);
  });

  it('is reported with its cause and with what is left', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 3_000 });
    const down = new Error('down');
    lease.onExtend = () => Promise.reject(down);
    const jeopardy = jest.fn();
    locks.events.on('jeopardy', jeopardy);
    await locks.acquire(['a', 'b']);
    await clock.advance(1_000);
    expect(jeopardy).toHaveBeenCalledTimes(1);
    expect(jeopardy).toHaveBeenCalledWith({
      key: 'a',
      keys: ['a', 'b'],
      name: undefined,
      mode: 'write',
      store: 'fake',
      fencingToken: 7n,
      heldFor: 1_000,
      remaining: 1_968,
      error: expect.objectContaining({ code: 'LOCK_STORE_FAILED', key: 'a, b', cause: down }),
    });
  });

  it('may also be one that throws, or one that hangs for a third of the ttl', async () => {
    for (const onExtend of [
      never<boolean>,
      () => {
        throw new Error('down');
      },
    ]) {
      const { locks, lease, clock, events } = onFakeStore({ ttl: 3_000 });
      const lock = await locks.acquire('a');
      lease.onExtend = onExtend;
      await clock.advance(2_000);
      expect(lock.state).toBe('jeopardy');
      lease.onExtend = () => Promise.resolve(true);
      await clock.advance(300);
      expect(lock.state).toBe('held');
      expect(events.at(-1)).toBe('recovered');
    }
  });

  it('hangs for storeTimeout at most', async () => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 3_000, storeTimeout: 200 });
    await locks.acquire('a');
    lease.onExtend = never;
    await clock.advance(1_199);
    expect(events).toEqual(['held']);
    await clock.advance(1);
    expect(events).toEqual(['held', 'jeopardy']);
  });
});

it('a store that fails for one second of a ttl of three loses nothing', async () => {
  for (const failure of [never<boolean>, () => Promise.reject(new Error('paused'))]) {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 3_000 });
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, index) => locks.acquire(`key ${index}`)),
    );
    await clock.advance(999);
    lease.onExtend = failure;
    await clock.advance(1_000);
    lease.onExtend = () => Promise.resolve(true);
    await clock.advance(10_000);
    expect(all.filter((lock) => !lock.isHeld)).toEqual([]);
    expect(events).not.toContain('lost');
  }
});

it('with any ttl: few extensions, never a gap, and nothing after the release', async () => {
  const ttls = fc.integer({ min: 20, max: 3_600_000 });
  await fc.assert(
    fc.asyncProperty(ttls, fc.integer({ min: 1, max: 20 }), async (ttl, times) => {
      const { locks, lease, clock, events } = onFakeStore({ ttl });
      const lock = await locks.acquire('a');
      await clock.advance(ttl * times);
      expect(lock.isHeld).toBe(true);
      expect(lease.extensions.length).toBeLessThanOrEqual(3 * times);
      expect(lease.extensions.length).toBeGreaterThanOrEqual(times);
      await lock.release();
      expect(clock.pendingTimers).toBe(0);
      const before = lease.extensions.length;
      await clock.advance(ttl * 2);
      expect(lease.extensions).toHaveLength(before);
      expect(events).toEqual(['held', 'released']);
    }),
    { numRuns: 40 },
  );
});
