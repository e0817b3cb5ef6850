import { LockStoreError } from 'nest-holdfast/core';
import type { Lease, Lock } from 'nest-holdfast/core';
import { deferred, never, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore, onQueueStore } from '../support/setup';

describe('close', () => {
  it('takes every lock back from its holder, and frees the keys', async () => {
    const { locks, others, events, clock } = inMemory();
    const held = [await locks.acquire('a'), await locks.acquire(['b', 'c'])];
    const signals = held.map((lock) => lock.signal);
    await locks.close();
    for (const signal of signals) expect(signal.reason).toMatchObject({ reason: 'closed' });
    expect((signals[1]!.reason as Error).message).toBe(
      'Lock "b, c" is no longer held: its LockService was closed',
    );
    expect(held.map((lock) => lock.state)).toEqual(['lost', 'lost']);
    expect(events).toEqual(['held', 'held', 'lost', 'lost']);
    expect(clock.pendingTimers).toBe(0);
    expect(await others.tryAcquire(['a', 'b', 'c'])).toBeDefined();
  });

  it('tells the work of withLock', async () => {
    const { locks, clock } = onFakeStore();
    const work = deferred<string>();
    const outcome = watch(locks.withLock('a', () => work.promise));
    await clock.advance(0);
    await locks.close();
    work.resolve('paid');
    await clock.advance(0);
    expect(outcome.error).toMatchObject({ code: 'LOCK_LOST', reason: 'closed', result: 'paid' });
  });

  it('frees keys at once, minHold or not', async () => {
    const { locks, lease } = onFakeStore({ minHold: 10_000 });
    await locks.acquire('a');
    await locks.close();
    expect([lease.extensions, lease.releases]).toEqual([[], 1]);
  });

  it('leaves alone what was released or lost before', async () => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 100 });
    await (await locks.acquire('a')).release();
    await locks.acquire('b', { autoExtend: false });
    await clock.advance(100);
    await locks.close();
    expect(lease.releases).toBe(1);
    expect(events).toEqual(['held', 'released', 'held', 'lost']);
  });

  it('leaves alone what was lost while no timer could run', async () => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 100 });
    const lock = await locks.acquire('a');
    clock.jump(1_000);
    await locks.close();
    expect(lock.signal.reason).toMatchObject({ reason: 'expired' });
    expect(lease.releases).toBe(0);
    expect(events).toEqual(['held', 'lost']);
  });

  it('refuses to acquire anything afterwards', async () => {
    const { locks, store } = onFakeStore();
    await locks.close();
    const calls = [
      locks.acquire(['a', 'b']),
      locks.tryAcquire(['a', 'b']),
      locks.withLock(['a', 'b'], () => 1),
      locks.enter(['a', 'b']),
    ];
    for (const call of calls) {
      const error = await rejectionOf(call);
      expect(error).toBeInstanceOf(LockStoreError);
      expect(error.message).toBe('Lock store "fake" failed for "a, b": the LockService is closed');
    }
    expect(store.requests).toEqual([]);
  });

  it('is done once, however often it is called', async () => {
    const { locks, store, lease } = onFakeStore();
    const close = jest.fn(() => Promise.resolve());
    Object.assign(store, { close });
    await locks.acquire('a');
    const first = locks.close();
    expect(locks.close()).toBe(first);
    await first;
    await locks.close();
    expect(close).toHaveBeenCalledTimes(1);
    expect(lease.releases).toBe(1);
  });
});

describe('close ends every wait', () => {
  it('of those who poll', async () => {
    const { locks, store, clock } = onFakeStore();
    store.onAcquire = () => Promise.resolve(undefined);
    const waiting = ['a', 'b'].map((key) => watch(locks.acquire(key)));
    await clock.advance(1_000);
    const attempts = store.requests.length;
    await locks.close();
    expect(waiting.map(({ error }) => (error as LockStoreError).message)).toEqual([
      'Lock store "fake" failed for "a": the LockService is closed',
      'Lock store "fake" failed for "b": the LockService is closed',
    ]);
    expect((waiting[1]!.error as LockStoreError).key).toBe('b');
    expect(clock.pendingTimers).toBe(0);
    expect(store.requests).toHaveLength(attempts);
  });

  it('of those who wait in a queue', async () => {
    const { locks, store, clock } = onQueueStore();
    const acquired = watch(locks.acquire('a'));
    await clock.advance(1_000);
    expect(store.waiters).toHaveLength(1);
    await locks.close();
    expect((acquired.error as Error).message).toContain('the LockService is closed');
    expect(store.waiters).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(['acquire', 'tryAcquire'] as const)(
    'and of %s, whose first answer is on its way; what it grants is released',
    async (method) => {
      const { locks, store, lease, clock, events } = onFakeStore({ minHold: 5_000 });
      const answer = deferred<Lease | undefined>();
      store.onAcquire = () => answer.promise;
      const acquired = watch<Lock | undefined>(locks[method]('a'));
      await clock.advance(0);
      const closed = watch(locks.close());
      await clock.advance(10);
      answer.resolve(lease);
      await clock.advance(0);
      expect((acquired.error as Error).message).toBe(
        'Lock store "fake" failed for "a": the LockService is closed',
      );
      expect(closed.status).toBe('fulfilled');
      expect([lease.extensions, lease.releases]).toEqual([[], 1]);
      expect(events.filter((each) => each === 'held')).toHaveLength(
        events.filter((each) => each === 'lost').length,
      );
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('and waits for all whose answers are on their way', async () => {
    const { locks, store, clock } = onFakeStore();
    const answers = [deferred<Lease | undefined>(), deferred<Lease | undefined>()];
    store.onAcquire = () => answers[store.requests.length - 1]!.promise;
    const acquired = [watch(locks.tryAcquire('a')), watch(locks.acquire('b'))];
    await clock.advance(0);
    const closed = watch(locks.close());
    answers[0]!.resolve(undefined);
    await clock.advance(0);
    expect(acquired[0]!.status).toBe('fulfilled');
    expect(closed.status).toBe('pending');
    answers[1]!.resolve(undefined);
    await clock.advance(0);
    expect(closed.status).toBe('fulfilled');
  });

  it('and of those who begin while it goes on', async () => {
    const { locks, lease, clock } = onFakeStore();
    lease.onRelease = never;
    await locks.acquire('a');
    const closed = watch(locks.close());
    await clock.advance(10);
    expect(closed.status).toBe('pending');
    expect(await rejectionOf(locks.acquire('b'))).toBeInstanceOf(LockStoreError);
    await clock.advance(5_000);
    expect(closed.status).toBe('fulfilled');
  });

  it('lets no listener in that hears of it while it happens', async () => {
    const { locks, clock } = inMemory();
    await locks.acquire('a');
    let late: Promise<unknown> | undefined;
    locks.events.on('lost', () => {
      late = locks.acquire('b');
    });
    await locks.close();
    expect(await rejectionOf(late!)).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(clock.pendingTimers).toBe(0);
  });
});
