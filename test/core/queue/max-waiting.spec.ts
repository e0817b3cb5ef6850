import { LockQueueFullError, LockService, MemoryLockStore } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { inMemory, onQueueStore } from '../support/setup';

const wait = { waitTimeout: 1_000 };
/** The outcome of a call. */
const outcome = (call: Promise<unknown>) =>
  call.then(
    () => 'granted',
    (error: { code: string }) => error.code,
  );

describe('maxWaiting', () => {
  it('refuses one more at once, for the key that is full and for no other', async () => {
    const { locks, clock } = inMemory({ ...wait, maxWaiting: 2 });
    const held = await locks.acquire('a');
    const waiting = [1, 2].map(() => outcome(locks.withLock('a', () => {})));
    const refused = locks.acquire('a');
    await expect(refused).rejects.toMatchObject({
      name: 'LockQueueFullError',
      code: 'LOCK_QUEUE_FULL',
      key: 'a',
      limit: 'maxWaiting',
      most: 2,
      message: 'Lock "a" was not acquired: 2 callers wait for it already (maxWaiting)',
    });
    await expect(refused).rejects.toBeInstanceOf(LockQueueFullError);
    await (await locks.acquire('b')).release();
    await held.release();
    await clock.advance(0);
    expect(await Promise.all(waiting)).toEqual(['granted', 'granted']);
    await (await locks.acquire('a')).release();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(['in memory', 'in the queue of a store'])(
    'makes room with every end of a wait: %s',
    async (where) => {
      const { locks, others, clock } = where === 'in memory' ? inMemory({ ...wait, maxWaiting: 1 }) : withQueue(); // prettier-ignore
      await others.acquire('a', { maxHold: Infinity });
      const signal = AbortSignal.abort(new Error('gone'));
      expect(await outcome(locks.acquire('a', { signal }))).toBeUndefined();
      for (let round = 0; round < 3; round++) {
        const leaving = new AbortController();
        const left = outcome(locks.acquire('a', { signal: leaving.signal }));
        await clock.advance(0);
        expect(await outcome(locks.acquire('a'))).toBe('LOCK_QUEUE_FULL');
        leaving.abort(new Error('gone'));
        expect(await left).toBeUndefined();
        const late = outcome(locks.acquire('a'));
        await clock.advance(1_000);
        expect(await late).toBe('LOCK_TIMEOUT');
      }
    },
  );

  /** The store has a line of its own, in which all callers wait. */
  function withQueue() {
    const clock = new FakeClock(50_000);
    const store = new MemoryLockStore(clock);
    const options = { clock, ...wait, maxWaiting: 1 };
    return {
      clock,
      locks: new LockService(store, options),
      others: new LockService(store, options),
    };
  }

  it('counts a caller for each of its keys', async () => {
    const { locks, clock } = inMemory({ ...wait, maxWaiting: 1 });
    await locks.acquire('a');
    const first = outcome(locks.acquire(['a', 'b']));
    expect(await outcome(locks.acquire(['a', 'c']))).toBe('LOCK_QUEUE_FULL');
    await clock.advance(1_000);
    expect(await first).toBe('LOCK_TIMEOUT');
  });

  it('still counts those that wait when one of several has left', async () => {
    const { locks, clock } = inMemory({ ...wait, maxWaiting: 2 });
    await locks.acquire('a');
    const [short, long] = [100, 1_000].map((waitTimeout) =>
      outcome(locks.acquire('a', { waitTimeout })),
    );
    await clock.advance(100);
    expect(await short).toBe('LOCK_TIMEOUT');
    const next = outcome(locks.acquire('a'));
    expect(await outcome(locks.acquire('a'))).toBe('LOCK_QUEUE_FULL');
    await clock.advance(1_000);
    expect(await Promise.all([long, next])).toEqual(['LOCK_TIMEOUT', 'LOCK_TIMEOUT']);
  });

  it('refuses no caller that does not wait', async () => {
    const { locks } = inMemory({ ...wait, maxWaiting: 0 });
    const held = await locks.acquire('a');
    expect(await locks.tryAcquire('a')).toBeUndefined();
    expect(await outcome(locks.acquire('a', { waitTimeout: 0 }))).toBe('LOCK_TIMEOUT');
    expect(await outcome(locks.acquire('a'))).toBe('LOCK_QUEUE_FULL');
    await held.release();
    expect(await outcome(locks.acquire('a'))).toBe('granted');
  });

  it('asks the store for no caller that it refuses', async () => {
    const { locks, store } = onQueueStore({ ...wait, maxWaiting: 0 });
    const calls = jest.spyOn(store, 'acquire');
    jest.spyOn(store, 'tryAcquire').mockResolvedValue(undefined);
    expect(await outcome(locks.acquire('a'))).toBe('LOCK_QUEUE_FULL');
    expect(calls).not.toHaveBeenCalled();
  });

  it('may be said by each call, and is 10,000 by itself', async () => {
    const { locks, clock } = inMemory(wait);
    await locks.acquire('a');
    const waiting = Array.from({ length: 10_000 }, () => outcome(locks.acquire('a')));
    expect(await outcome(locks.acquire('a'))).toBe('LOCK_QUEUE_FULL');
    const patient = outcome(locks.acquire('a', { maxWaiting: Infinity }));
    await clock.advance(1_000);
    expect(new Set(await Promise.all([...waiting, patient]))).toEqual(new Set(['LOCK_TIMEOUT']));
  });
});

describe('maxWaitingTotal', () => {
  it('refuses one more, with any key', async () => {
    const { locks, clock } = inMemory({ ...wait, maxWaitingTotal: 2 });
    await locks.acquire(['a', 'b', 'c']);
    const waiting = ['a', 'b'].map((key) => outcome(locks.acquire(key)));
    await expect(locks.acquire('c')).rejects.toMatchObject({
      code: 'LOCK_QUEUE_FULL',
      limit: 'maxWaitingTotal',
      most: 2,
      message:
        'Lock "c" was not acquired: 2 callers wait for locks of this service already (maxWaitingTotal)',
    });
    await clock.advance(1_000);
    expect(await Promise.all(waiting)).toEqual(['LOCK_TIMEOUT', 'LOCK_TIMEOUT']);
    const again = outcome(locks.acquire('c'));
    await clock.advance(1_000);
    expect(await again).toBe('LOCK_TIMEOUT');
  });

  it.each([-1, 1.5, '10', null])('must be a number of callers, not %p', (maxWaitingTotal) => {
    const make = () => new LockService(new MemoryLockStore(), { maxWaitingTotal } as never);
    expect(make).toThrow('maxWaitingTotal must be a whole number of callers from 0 to');
  });
});
