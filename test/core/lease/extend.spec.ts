import { LockStoreError } from 'nest-holdfast/core';
import { deferred, never, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

describe('lock.extend', () => {
  it('makes the lock longer, for this and the automatic extensions after it', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 1_000 });
    const lock = await locks.acquire('a');
    await clock.advance(100);
    await lock.extend(6_000);
    expect(lock.remaining).toBe(6_000 - 60 - 2);
    await clock.advance(1_999);
    expect(lease.extensions).toEqual([6_000]);
    await clock.advance(1);
    expect(lease.extensions).toEqual([6_000, 6_000]);
  });

  it('makes the lock shorter', async () => {
    const { locks, store, clock } = inMemory({ ttl: 6_000 });
    const lock = await locks.acquire('a');
    await lock.extend(600);
    expect(lock.remaining).toBe(592);
    expect(await store.inspect('a')).toMatchObject({ remaining: 600 });
    await clock.advance(10_000);
    expect(lock.isHeld).toBe(true);
    expect(lock.remaining).toBeLessThanOrEqual(592);
  });

  it('with autoExtend: false gives it one more ttl', async () => {
    const { locks, clock } = onFakeStore({ ttl: 1_000, autoExtend: false });
    const lock = await locks.acquire('a');
    const { signal } = lock;
    await clock.advance(900);
    await lock.extend(1_000);
    await clock.advance(987);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.aborted).toBe(true);
  });

  it('counts from before the request was sent', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 1_000, autoExtend: false });
    const lock = await locks.acquire('a');
    const answer = deferred<boolean>();
    lease.onExtend = () => answer.promise;
    const extended = watch(lock.extend(1_000));
    await clock.advance(300);
    answer.resolve(true);
    await clock.advance(0);
    expect(extended.status).toBe('fulfilled');
    expect(lock.remaining).toBe(688);
  });

  it.each([9, 1.5, '1000', Infinity, Number.NaN])('refuses a ttl of %p', async (ttl) => {
    const { locks, lease } = onFakeStore();
    const lock = await locks.acquire('a');
    expect((await rejectionOf(lock.extend(ttl as number))).message).toContain('ttl must be');
    expect(lease.extensions).toEqual([]);
    expect(lock.isHeld).toBe(true);
  });

  it('rejects with LockLostError when the key is gone', async () => {
    const { locks, lease, events } = onFakeStore();
    lease.onExtend = () => Promise.resolve(false);
    const lock = await locks.acquire('a');
    const error = await rejectionOf(lock.extend(1_000));
    expect(error).toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
    expect(lock.signal.reason).toBe(error);
    expect(events).toEqual(['held', 'lost']);
  });

  it.each([
    ['rejects', () => Promise.reject(new Error('down'))],
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
  ])(
    'rejects with LockStoreError when the store %s; the lock is still held',
    async (_, onExtend) => {
      const { locks, lease, clock, events } = onFakeStore({ ttl: 1_000 });
      lease.onExtend = onExtend;
      const lock = await locks.acquire(['a', 'b']);
      await clock.advance(100);
      const error = await rejectionOf<LockStoreError>(lock.extend(2_000));
      expect(error).toBeInstanceOf(LockStoreError);
      expect(error.message).toBe('Lock store "fake" failed for "a, b": down');
      expect(error.cause).toEqual(new Error('down'));
      expect(lock.remaining).toBe(888);
      expect(events).toEqual(['held']);
    },
  );

  it('rejects after storeTimeout when the store hangs; the lock is still held', async () => {
    const { locks, lease, clock } = onFakeStore({ autoExtend: false, storeTimeout: 300 });
    lease.onExtend = never;
    const lock = await locks.acquire('a');
    const extended = watch(lock.extend(60_000));
    await clock.advance(299);
    expect(extended.status).toBe('pending');
    await clock.advance(1);
    expect(extended.error).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect((extended.error as Error).message).toContain('no answer within 300 ms');
    expect(lock.isHeld).toBe(true);
  });

  it('rejects with LockLostError when the store hangs for longer than the lock is valid', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 1_000, autoExtend: false });
    lease.onExtend = never;
    const lock = await locks.acquire('a');
    await clock.advance(900);
    const extended = watch(lock.extend(60_000));
    await clock.advance(87);
    expect(extended.status).toBe('pending');
    await clock.advance(1);
    expect(extended.error).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
  });

  it('does not bring back a lock that was lost while it was on its way', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 1_000, autoExtend: false });
    const answer = deferred<boolean>();
    lease.onExtend = () => answer.promise;
    const lock = await locks.acquire('a');
    const extended = watch(lock.extend(60_000));
    await clock.advance(0);
    clock.jump(988);
    answer.resolve(true);
    await clock.advance(0);
    expect(extended.error).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
    expect(lock.isHeld).toBe(false);
    expect(lease.releases).toBe(1);
  });

  it('is refused when the lock is released while it is on its way', async () => {
    const { locks, lease, clock } = onFakeStore();
    const answer = deferred<boolean>();
    lease.onExtend = () => answer.promise;
    const lock = await locks.acquire('a');
    const extended = watch(lock.extend(60_000));
    await clock.advance(0);
    await lock.release();
    answer.resolve(true);
    await clock.advance(0);
    expect(extended.error).toMatchObject({ code: 'LOCK_LOST', reason: 'released' });
    expect(lock.state).toBe('released');
    expect(clock.pendingTimers).toBe(0);
  });

  it('repairs a lock in jeopardy', async () => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 3_000 });
    const lock = await locks.acquire('a');
    lease.onExtend = () => Promise.reject(new Error('down'));
    await clock.advance(1_000);
    lease.onExtend = () => Promise.resolve(true);
    await lock.extend(3_000);
    expect(lock.state).toBe('held');
    expect(events).toEqual(['held', 'jeopardy', 'recovered']);
  });
});
