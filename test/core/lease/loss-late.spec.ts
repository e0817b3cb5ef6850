import { LockLostError, LockService, MemoryLockStore } from 'nest-holdfast/core';
import { deferred, rejectionOf } from '../support/outcome';
import { onFakeStore } from '../support/setup';

describe('after the event loop was blocked', () => {
  it('the lock tells the truth at once, before any timer has run', async () => {
    const { locks, clock, events } = onFakeStore({ ttl: 1_000 });
    const lock = await locks.acquire('a');
    clock.jump(988);
    expect(() => lock.assertHeld()).toThrow(LockLostError);
    expect(() => lock.assertHeld()).toThrow('it was not extended in time');
    expect(events).toEqual(['held', 'lost']);
  });

  it.each([
    ['isHeld', false],
    ['state', 'lost'],
    ['remaining', 0],
  ] as const)('%s is %s', async (property, expected) => {
    const { locks, clock } = onFakeStore({ ttl: 1_000 });
    const lock = await locks.acquire('a');
    clock.jump(5_000);
    expect(lock[property]).toBe(expected);
  });

  it('the signal has aborted', async () => {
    const { locks, clock } = onFakeStore({ ttl: 1_000 });
    const lock = await locks.acquire('a');
    const before = lock.signal;
    clock.jump(5_000);
    expect(lock.signal.aborted).toBe(true);
    expect(before.aborted).toBe(true);
  });

  it('a lock that is in time after all is extended at once', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 1_000 });
    const lock = await locks.acquire('a');
    clock.jump(987);
    await clock.advance(0);
    expect(lease.extensions).toEqual([1_000]);
    expect(lock.isHeld).toBe(true);
  });

  it('an extension is refused, and not sent', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 1_000 });
    const lock = await locks.acquire('a');
    clock.jump(988);
    const error = await rejectionOf<LockLostError>(lock.extend(1_000));
    expect(error).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
    expect(lease.extensions).toEqual([]);
  });
});

describe('an extension that comes through after the lock was lost', () => {
  it('does not keep the key: it is released', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 1_000 });
    const lock = await locks.acquire('a');
    const answers = [deferred<boolean>(), deferred<boolean>(), deferred<boolean>()];
    lease.onExtend = () => answers.shift()!.promise;
    const [first] = answers;
    await clock.advance(1_000);
    expect(lock.state).toBe('lost');
    expect(lease.releases).toBe(0);
    first!.resolve(true);
    await clock.advance(0);
    expect(lease.releases).toBe(1);
  });

  it('but not when it says that the key was gone anyway', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 1_000 });
    await locks.acquire('a');
    const answer = deferred<boolean>();
    lease.onExtend = () => answer.promise;
    await clock.advance(1_000);
    answer.resolve(false);
    await clock.advance(0);
    expect(lease.releases).toBe(0);
  });

  it('and not when it was released in the meantime, which frees it anyway', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 1_000 });
    const lock = await locks.acquire('a');
    const answer = deferred<boolean>();
    lease.onExtend = () => answer.promise;
    await clock.advance(400);
    await lock.release();
    answer.resolve(true);
    await clock.advance(0);
    expect(lease.releases).toBe(1);
    expect(lock.state).toBe('released');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a wall clock that is', () => {
  afterEach(() => jest.restoreAllMocks());

  /** By the clocks of this machine. */
  async function held() {
    const locks = new LockService(new MemoryLockStore(), { ttl: 60_000, autoExtend: false });
    const lock = await locks.acquire('a');
    const setWallClock = (ms: number) => {
      const time = Math.floor(performance.timeOrigin + performance.now() + ms);
      jest.spyOn(Date, 'now').mockReturnValue(time);
    };
    return { lock, setWallClock };
  }

  it('set back gives no lock a moment more', async () => {
    const { lock, setWallClock } = await held();
    const before = lock.remaining;
    for (const ms of [-1_000, -4e12]) {
      setWallClock(ms);
      expect(lock.isHeld).toBe(true);
      expect(lock.remaining).toBeLessThanOrEqual(before);
      expect(lock.remaining).toBeGreaterThan(before - 30_000);
    }
  });

  it('set forward takes what it has gained, for the machine may have been suspended', async () => {
    const { lock, setWallClock } = await held();
    setWallClock(-4e12);
    const before = lock.remaining;
    setWallClock(-4e12 + 20_000);
    expect(lock.remaining).toBeLessThanOrEqual(before - 19_000);
    expect(lock.isHeld).toBe(true);
    setWallClock(-4e12 + 70_000);
    expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ reason: 'expired' }));
    setWallClock(-4e12);
    expect(lock.isHeld).toBe(false);
  });
});
