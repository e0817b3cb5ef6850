import { never, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

const session = { fencing: true, ttl: false, manyKeys: true };

describe('minHold', () => {
  it('leaves the key in the store for the rest of it', async () => {
    const { locks, others, clock, events } = inMemory({ minHold: 1_000 });
    const lock = await locks.acquire('a');
    await clock.advance(300);
    expect(await lock.release()).toBe(true);
    expect(lock.state).toBe('released');
    expect(events).toEqual(['held', 'released']);
    await clock.advance(699);
    expect(await others.tryAcquire('a')).toBeUndefined();
    await clock.advance(1);
    expect(await others.tryAcquire('a')).toBeDefined();
  });

  it('asks for whole milliseconds, rather too many', async () => {
    const { locks, lease, clock } = onFakeStore({ minHold: 1_000 });
    const lock = await locks.acquire('a');
    await clock.advance(300.5);
    await lock.release();
    expect(lease.extensions).toEqual([700]);
    expect(lease.releases).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [999, [1], 0],
    [999.5, [], 1],
    [1_000, [], 1],
    [5_000, [], 1],
  ])('a release after %d ms of 1000', async (ms, extensions, releases) => {
    const { locks, lease, clock } = onFakeStore({ minHold: 1_000 });
    const lock = await locks.acquire('a');
    await clock.advance(ms);
    await lock.release();
    expect(lease.extensions).toEqual(extensions);
    expect(lease.releases).toBe(releases);
  });

  it('counts from the grant, not from before the request', async () => {
    const { locks, store, lease, clock } = onFakeStore({ minHold: 1_000 });
    store.onAcquire = async () => {
      clock.jump(400);
      return lease;
    };
    const lock = await locks.acquire('a');
    await lock.release();
    expect(lease.extensions).toEqual([1_000]);
  });

  it('is nothing by default', async () => {
    const { locks, lease } = onFakeStore();
    await (await locks.acquire('a')).release();
    expect([lease.extensions, lease.releases]).toEqual([[], 1]);
  });

  it.each([
    ['says that the key is gone', () => Promise.resolve(false), ['held', 'lost']],
    ['fails', () => Promise.reject(new Error('down')), ['held', 'released', 'releaseFailed']],
  ])('false when the store %s', async (_, onExtend, expected) => {
    const { locks, lease, events } = onFakeStore({ minHold: 1_000 });
    lease.onExtend = onExtend;
    const lock = await locks.acquire('a');
    expect(await lock.release()).toBe(false);
    expect(events).toEqual(expected);
  });

  it('waits for a store that hangs for storeTimeout at most', async () => {
    const { locks, lease, clock } = onFakeStore({ minHold: 10_000, storeTimeout: 300 });
    lease.onExtend = never;
    const lock = await locks.acquire('a');
    const released = watch(lock.release());
    await clock.advance(300);
    expect(released.value).toBe(false);
  });
});

describe('minHold where the store has no ttl', () => {
  it('frees the key itself when the time has come', async () => {
    const { locks, lease, clock, events } = onFakeStore({ minHold: 1_000 }, session);
    const lock = await locks.acquire('a');
    await clock.advance(300);
    expect(await lock.release()).toBe(true);
    expect(lock.state).toBe('released');
    expect(events).toEqual(['held', 'released']);
    await clock.advance(699);
    expect(lease.releases).toBe(0);
    await clock.advance(1);
    expect(lease.releases).toBe(1);
    expect(lease.extensions).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not keep the process alive for it', async () => {
    const { locks, clock } = onFakeStore({ minHold: 1_000 }, session);
    const lock = await locks.acquire('a');
    const schedule = jest.spyOn(clock, 'schedule');
    await lock.release();
    expect(schedule.mock.calls).toEqual([[1_000, expect.any(Function), true]]);
  });

  it('survives a store that is down by then', async () => {
    const { locks, lease, clock } = onFakeStore({ minHold: 1_000 }, session);
    lease.onRelease = () => Promise.reject(new Error('down'));
    const lock = await locks.acquire('a');
    await lock.release();
    await clock.advance(1_000);
    expect(lease.releases).toBe(1);
  });
});
