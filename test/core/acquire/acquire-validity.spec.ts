import { LockStoreError } from 'nest-holdfast/core';
import type { Lease } from 'nest-holdfast/core';
import { validUntil } from '../../../lib/core/store/grant';
import { FakeLease } from '../support/fake-store';
import { deferred, rejectionOf, watch } from '../support/outcome';
import { onFakeStore } from '../support/setup';

const session = { fencing: true, ttl: false, manyKeys: true };

it('validity is the ttl less 1 % and 2 ms, from before the request was sent', () => {
  expect(validUntil(1_000, 100)).toBe(1_097);
  expect(validUntil(0, 30_000)).toBe(29_698);
});

describe('the validity of a lock', () => {
  it('counts from before the request was sent', async () => {
    const { locks, store, lease, clock } = onFakeStore({ ttl: 1_000, autoExtend: false });
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () => answer.promise;
    const acquired = watch(locks.acquire('a'));
    await clock.advance(400);
    answer.resolve(lease);
    await clock.advance(0);
    expect(acquired.value!.remaining).toBe(1_000 - 10 - 2 - 400);
  });

  it('counts from the attempt that won, not from the first one', async () => {
    const { locks, store, lease, clock } = onFakeStore({ retryDelay: 100, retryJitter: 0 });
    store.onAcquire = () => Promise.resolve(store.requests.length < 3 ? undefined : lease);
    const acquired = watch(locks.acquire('a', { ttl: 1_000 }));
    await clock.advance(200);
    expect(acquired.value!.remaining).toBe(988);
  });

  it('has no end where the store has no ttl', async () => {
    const { locks, clock } = onFakeStore({}, session);
    const lock = await locks.acquire('a');
    expect(lock.remaining).toBe(Infinity);
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(24 * 3_600_000);
    expect(lock.isHeld).toBe(true);
  });
});

describe('a grant whose validity is used up on arrival', () => {
  async function acquiredAfter(ms: number, method: 'acquire' | 'tryAcquire' = 'acquire') {
    const around = onFakeStore({ ttl: 100, autoExtend: false, retryCount: 0 });
    const { locks, store, lease, clock } = around;
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () => answer.promise;
    const acquired = watch(locks[method]('a', { storeTimeout: 500 }));
    await clock.advance(ms);
    answer.resolve(lease);
    await clock.advance(0);
    return { ...around, acquired };
  }

  it.each(['acquire', 'tryAcquire'] as const)(
    'is released and not handed out by %s',
    async (method) => {
      const { acquired, lease, events, clock } = await acquiredAfter(97, method);
      expect(acquired.error).toBeInstanceOf(LockStoreError);
      expect((acquired.error as Error).message).toBe(
        'Lock store "fake" failed for "a": its answer took 97 ms, which uses up a ttl of 100 ms',
      );
      expect(lease.releases).toBe(1);
      expect(events).toEqual([]);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('but one with a moment left is a lock', async () => {
    const { acquired, lease } = await acquiredAfter(96.5);
    expect(acquired.value!.remaining).toBe(0.5);
    expect(lease.releases).toBe(0);
  });

  it('does not end the wait: the next attempt may be faster', async () => {
    const { locks, store, clock } = onFakeStore({ ttl: 100, retryDelay: 10, retryJitter: 0 });
    const [late, inTime] = [new FakeLease(), new FakeLease()];
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () =>
      store.requests.length === 1 ? answer.promise : Promise.resolve(inTime);
    const acquired = watch(locks.acquire('a'));
    await clock.advance(97);
    answer.resolve(late);
    await clock.advance(10);
    expect(acquired.value?.isHeld).toBe(true);
    expect([late.releases, inTime.releases]).toEqual([1, 0]);
  });

  it('and its release, which may come after the next grant, is of another token', async () => {
    const { locks, store, clock } = onFakeStore({ ttl: 100, retryDelay: 10, retryJitter: 0 });
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () =>
      store.requests.length === 1 ? answer.promise : Promise.resolve(new FakeLease());
    const acquired = watch(locks.acquire('a'));
    await clock.advance(97);
    answer.resolve(new FakeLease());
    await clock.advance(10);
    expect(acquired.value?.isHeld).toBe(true);
    expect(new Set(store.requests.map(({ token }) => token)).size).toBe(2);
  });

  it('is what the wait is reported to have failed with, if it was the last answer', async () => {
    const { locks, store, lease, clock } = onFakeStore({ retryDelay: 200, retryJitter: 0 });
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () =>
      store.requests.length === 1 ? answer.promise : Promise.resolve(undefined);
    const acquired = watch(locks.acquire('a', { ttl: 100, waitTimeout: 150 }));
    await clock.advance(97);
    answer.resolve(lease);
    await clock.advance(53);
    // The key was then seen to be held, which is the better news.
    expect(acquired.error).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });

  it('by maxHold, where the store has no ttl, is not handed out either', async () => {
    const { locks, store, lease, clock, events } = onFakeStore({ maxHold: 100 }, session);
    const answer = deferred<Lease | undefined>();
    store.onAcquire = () => answer.promise;
    const acquired = watch(locks.acquire('a', { retryCount: 0 }));
    await clock.advance(100);
    answer.resolve(lease);
    await clock.advance(0);
    expect((acquired.error as Error).message).toBe(
      'Lock store "fake" failed for "a": its answer took 100 ms, which uses up a maxHold of 100 ms',
    );
    expect(lease.releases).toBe(1);
    expect(events).toEqual([]);
  });

  it('because its session has ended, is not handed out either', async () => {
    const { locks, lease, clock, events } = onFakeStore({ retryCount: 0 }, session);
    lease.lost = AbortSignal.abort();
    const acquired = watch(locks.acquire('a'));
    await clock.advance(0);
    expect((acquired.error as Error).message).toBe(
      'Lock store "fake" failed for "a": its session ended',
    );
    expect(lease.releases).toBe(1);
    expect(events).toEqual([]);
  });

  it('after it was looked at, while the process stood still, is not handed out either', async () => {
    const { locks, clock, events } = onFakeStore({ ttl: 100, autoExtend: false });
    locks.events.on('held', () => clock.jump(100));
    const error = await rejectionOf(locks.acquire('a'));
    expect(error).toBeInstanceOf(LockStoreError);
    expect(error).toMatchObject({
      message:
        'Lock store "fake" failed for "a": the lock ended before it could be handed out (expired)',
      cause: { reason: 'expired' },
    });
    expect(events).toEqual(['held', 'lost']);
  });
});
