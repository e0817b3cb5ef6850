import { LockLostError, LockService, MemoryLockStore } from 'nest-holdfast/core';
import { deferred, never, watch } from '../support/outcome';
import { onFakeStore } from '../support/setup';

describe('several extensions at once', () => {
  it('are sent one after the other, in their order', async () => {
    const { locks, lease, clock } = onFakeStore({ autoExtend: false });
    const answers = [deferred<boolean>(), deferred<boolean>()];
    lease.onExtend = () => answers[lease.extensions.length - 1]!.promise;
    const lock = await locks.acquire('a');
    const extended = [watch(lock.extend(5_000)), watch(lock.extend(1_000))];
    await clock.advance(10);
    expect(lease.extensions).toEqual([5_000]);
    answers[0]!.resolve(true);
    await clock.advance(10);
    expect(lease.extensions).toEqual([5_000, 1_000]);
    answers[1]!.resolve(true);
    await clock.advance(0);
    expect(extended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(lock.remaining).toBe(988 - 10);
  });

  it('one that hangs leaves time for the automatic one behind it', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 3_000 });
    const lock = await locks.acquire('a');
    await clock.advance(900);
    lease.onExtend = () => (lease.extensions.length === 1 ? never() : Promise.resolve(true));
    const extended = watch(lock.extend(3_000));
    await clock.advance(999);
    expect(extended.status).toBe('pending');
    await clock.advance(1);
    expect(extended.error).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(lease.extensions).toHaveLength(2);
    expect(lock.remaining).toBe(2_968);
  });

  it.each([true, false])(
    'the automatic one behind a longer one keeps its ttl: answered %j',
    async (answered) => {
      const { locks, lease, clock } = onFakeStore({ ttl: 3_000 });
      const lock = await locks.acquire('a');
      await clock.advance(950);
      const answer = deferred<boolean>();
      lease.onExtend = () =>
        lease.extensions.length === 1 ? answer.promise : Promise.resolve(true);
      const extended = watch(lock.extend(60_000));
      await clock.advance(100); // the automatic one is due
      if (answered) answer.resolve(true);
      else answer.reject(new Error('down'));
      await clock.advance(0);
      expect(extended.status).toBe(answered ? 'fulfilled' : 'rejected');
      expect(lease.extensions).toEqual([60_000, answered ? 60_000 : 3_000]);
      expect(lock.remaining).toBeGreaterThan(answered ? 59_000 : 2_900);
    },
  );

  it('go on after one that failed', async () => {
    const { locks, lease } = onFakeStore();
    lease.onExtend = () =>
      lease.extensions.length === 1 ? Promise.reject(new Error('down')) : Promise.resolve(true);
    const lock = await locks.acquire('a');
    const [first, second] = await Promise.allSettled([lock.extend(5_000), lock.extend(1_000)]);
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled']);
  });
});

describe('a shorter ttl may take effect although its reply never comes', () => {
  it.each([
    ['fails', () => Promise.reject(new Error('down'))],
    ['hangs', never<boolean>],
  ])('so the signal aborts in its time when the request %s', async (_, onExtend) => {
    const { locks, lease, clock } = onFakeStore({ ttl: 30_000 });
    const lock = await locks.acquire('a');
    const { signal } = lock;
    lease.onExtend = onExtend;
    const extended = watch(lock.extend(100));
    await clock.advance(96);
    expect(signal.aborted).toBe(false);
    expect(lock.remaining).toBe(1);
    await clock.advance(1);
    expect(signal.aborted).toBe(true);
    expect(extended.status).toBe('rejected');
  });

  it('and it is extended in its time', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 30_000 });
    const lock = await locks.acquire('a');
    lease.onExtend = () => Promise.reject(new Error('down'));
    watch(lock.extend(300));
    await clock.advance(10);
    lease.onExtend = () => Promise.resolve(true);
    await clock.advance(1_000);
    expect(lock.isHeld).toBe(true);
    expect(lease.extensions.slice(0, 3)).toEqual([300, 300, 300]);
  });
});

it.each([0, 1, 2, 3, 4, 5, 6])(
  'an extension may be overtaken by the release, %i steps later',
  async (steps) => {
    const locks = new LockService(new MemoryLockStore());
    const lock = await locks.acquire('order:42');
    const extended = lock.extend(20_000).catch((error: unknown) => error);
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    expect(await lock.release()).toBe(true);
    const failure = await extended;
    if (failure !== undefined) expect(failure).toBeInstanceOf(LockLostError);
  },
);
