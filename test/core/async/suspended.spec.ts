import { rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

const session = { fencing: true, ttl: false, manyKeys: true };

describe('a machine that was suspended', () => {
  it('has lost its locks: each of them says so at once', async () => {
    const { locks, clock, events } = onFakeStore({ ttl: 9_000 });
    const lock = await locks.acquire('a');
    const { signal } = lock;
    clock.suspend(10_000);
    expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ reason: 'expired' }));
    expect([lock.isHeld, lock.remaining, lock.state, signal.aborted]).toEqual([false, 0, 'lost', true]); // prettier-ignore
    expect(events).toEqual(['held', 'lost']);
  });

  it.each<[string, (signal: AbortSignal) => unknown]>([
    ['aborted', (signal) => signal.aborted && signal.reason],
    ['reason', (signal) => signal.reason],
    ['throwIfAborted()', (signal) => rejectionOf((async () => signal.throwIfAborted())())],
  ])('has signals that say so at once, though the lock was not asked: %s', async (_, ask) => {
    const { locks, clock, events } = onFakeStore({ ttl: 9_000 });
    const { signal } = await locks.acquire('a');
    const heard = jest.fn();
    signal.addEventListener('abort', heard);
    expect([signal.aborted, signal.reason]).toEqual([false, undefined]);
    signal.throwIfAborted();
    clock.suspend(10_000);
    expect(await ask(signal)).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
    await clock.advance(60_000);
    expect(heard).toHaveBeenCalledTimes(1);
    expect(events).toEqual(['held', 'lost']);
  });

  it('extends in time what it still has', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 9_000 });
    const lock = await locks.acquire('a');
    clock.suspend(5_000);
    await clock.advance(0);
    expect(lease.extensions).toEqual([9_000]);
    expect(lock.isHeld).toBe(true);
    expect(lock.remaining).toBeGreaterThan(8_000);
  });

  it('does not hand out a grant that was on its way meanwhile', async () => {
    const { locks, store, lease, clock } = onFakeStore({ ttl: 9_000 });
    store.onAcquire = async () => {
      clock.suspend(10_000);
      return lease;
    };
    await expect(locks.tryAcquire('a')).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(lease.releases).toBe(1);
  });

  it('ends the waits whose time is up', async () => {
    const { locks, others, clock } = inMemory({ waitTimeout: 5_000 });
    await others.acquire('a', { ttl: 60_000 });
    const waiting = watch(locks.acquire('a'));
    await clock.advance(0);
    clock.suspend(6_000);
    await clock.advance(0);
    expect(waiting.error).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });

  it('keeps minHold to the end: a wall clock that was set forward does not cut it short', async () => {
    const { locks, lease, clock } = onFakeStore({ minHold: 1_000 });
    const lock = await locks.acquire('a');
    clock.suspend(5_000);
    await lock.release();
    expect(lease.extensions).toEqual([1_000]);
    expect(lease.releases).toBe(0);
  });

  it('keeps it also where no ttl frees the key', async () => {
    const { locks, lease, clock } = onFakeStore({ minHold: 1_000 }, session);
    const lock = await locks.acquire('a');
    await lock.release();
    clock.suspend(5_000);
    await clock.advance(999);
    expect(lease.releases).toBe(0);
    await clock.advance(1);
    expect(lease.releases).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });
});
