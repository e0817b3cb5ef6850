import {
  LockDeadlockError,
  LockPermitsError,
  LockService,
  LockTimeoutError,
  LockUnsupportedError,
} from 'nest-holdfast/core';
import { deferred, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

describe('a semaphore', () => {
  it('lets as many work at a time as it has permits, in order', async () => {
    const { locks, others, clock } = inMemory();
    const jobs = Array.from({ length: 6 }, () => deferred<void>());
    const started: number[] = [];
    const work = jobs.map((job, index) =>
      (index % 2 ? others : locks).withPermit('export', { permits: 2 }, () => {
        started.push(index);
        return job.promise;
      }),
    );
    await clock.advance(0);
    expect(started).toHaveLength(2);
    for (const [done, index] of [0, 1, 2, 3, 4, 5].entries()) {
      jobs[started[index]!]!.resolve();
      await clock.advance(0);
      expect(started).toHaveLength(Math.min(6, done + 3));
    }
    await Promise.all(work);
    expect(started.filter((n) => n % 2 === 0)).toEqual([0, 2, 4]); // each process in its order
    expect(started.filter((n) => n % 2 === 1)).toEqual([1, 3, 5]);
  });

  it('gives a permit back when the work fails, and passes the error on', async () => {
    const { locks } = inMemory();
    const failure = new Error('work');
    for (let round = 0; round < 3; round++) {
      const work = locks.withPermit('export', { permits: 1 }, () => Promise.reject(failure));
      expect(await rejectionOf(work)).toBe(failure);
    }
  });

  it('is busy when all permits are taken', async () => {
    const { locks, others } = inMemory();
    const permits = 2;
    const [first] = [await locks.acquire('a', { permits }), await others.acquire('a', { permits })];
    const waiting = locks.withPermit('a', { permits, waitTimeout: 0 }, () => 1);
    const error = await rejectionOf(waiting);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error.message).toBe(
      'Lock "a" was not acquired: none of its 2 permits is free (attempts: 1)',
    );
    await first.release();
    expect(await locks.withPermit('a', { permits, waitTimeout: 0 }, () => 'in')).toBe('in');
  });

  it('says so when processes disagree, until it is unused', async () => {
    const { locks, others } = inMemory();
    const permit = await locks.acquire('export', { permits: 5 });
    const error = await rejectionOf(others.withPermit('export', { permits: 3 }, () => 1));
    expect(error).toBeInstanceOf(LockPermitsError);
    expect(error).toMatchObject({
      code: 'LOCK_PERMITS_DIFFER',
      key: 'export',
      permits: 3,
      inUse: 5,
      message:
        'Lock "export" was asked for as a semaphore with 3 permits, but it is in use as a semaphore with 5 permits',
    });
    await expect(others.acquire('export', { mode: 'read' })).rejects.toThrow('as a read lock');
    await permit.release();
    expect(await others.withPermit('export', { permits: 3 }, () => 'in')).toBe('in');
  });

  it('is told at once of a caller in its own process who waits with other permits', async () => {
    const { locks, others, clock } = inMemory();
    const alone = await others.acquire('export');
    const front = watch(locks.acquire('export', { permits: 5 }));
    await clock.advance(0);
    const differ = { code: 'LOCK_PERMITS_DIFFER', key: 'export', permits: 3, inUse: 5 };
    expect(await rejectionOf(locks.acquire('export', { permits: 3 }))).toMatchObject(differ);
    expect(await rejectionOf(locks.tryAcquire('export', { permits: 3 }))).toMatchObject(differ);
    const keys = ['another', 'export'];
    expect(await rejectionOf(locks.acquire(keys, { permits: 3 }))).toMatchObject(differ);
    await expect(locks.acquire('export', { mode: 'read' })).rejects.toThrow('as a read lock');
    const behind = watch(locks.acquire('export'));
    await alone.release();
    await clock.advance(1_000);
    await front.value!.release();
    await clock.advance(1_000);
    expect(behind.value?.isHeld).toBe(true);
  });

  it('is told at once of one who waits behind a lock of the same process', async () => {
    const { locks, clock } = inMemory();
    const alone = await locks.acquire('export');
    const waiting = watch(locks.acquire('export', { permits: 5 }));
    await clock.advance(0);
    const refused = await rejectionOf(locks.acquire('export', { permits: 3 }));
    expect(refused).toMatchObject({ code: 'LOCK_PERMITS_DIFFER', permits: 3, inUse: 5 });
    await alone.release();
    await clock.advance(1_000);
    expect(waiting.value?.isHeld).toBe(true);
    expect(await locks.tryAcquire('export', { permits: 5 })).toBeDefined();
  });

  it('and a lock of the same key exclude each other', async () => {
    const { locks, others, clock } = inMemory();
    const permit = await locks.acquire('export', { permits: 3 });
    const alone = watch(others.acquire('export'));
    await clock.advance(0);
    expect(alone.status).toBe('pending');
    await permit.release();
    await clock.advance(0);
    expect(alone.status).toBe('fulfilled');
    expect(await locks.tryAcquire('export', { permits: 3 })).toBeUndefined();
  });

  it('of one permit is a semaphore, too', async () => {
    const { locks, others } = inMemory();
    const permit = await locks.acquire('export', { permits: 1 });
    expect([permit.mode, permit.permits]).toEqual(['write', 1]);
    expect(await others.tryAcquire('export', { permits: 1 })).toBeUndefined();
    await expect(others.acquire('export', { permits: 2 })).rejects.toThrow(LockPermitsError);
  });

  it('is re-entered with the same number only', async () => {
    const { locks, store } = inMemory({ reentrant: true });
    await locks.withPermit('export', { permits: 2 }, async () => {
      expect(await locks.withPermit('export', { permits: 2 }, () => 'again')).toBe('again');
      expect((await store.inspect('export'))?.holders).toHaveLength(1);
      const other = locks.withPermit('export', { permits: 3 }, () => 1);
      await expect(other).rejects.toThrow(LockPermitsError);
      const whole = await rejectionOf(locks.withLock('export', () => 1));
      expect(whole).toBeInstanceOf(LockDeadlockError);
      expect(whole.message).toBe(
        'Lock "export" would wait for itself: the calling context has a permit of it. Leave the permit first',
      );
    });
    const inLock = locks.withLock('export', () =>
      locks.withPermit('export', { permits: 2 }, (lock) => lock.permits),
    );
    expect(await inLock).toBeUndefined(); // an exclusive holder needs no permit
  });

  it('sends no more contenders of a process than could have a permit', async () => {
    const supports = { fencing: true, ttl: true, semaphores: true } as const;
    const { locks, store, clock } = onFakeStore({}, supports);
    const answer = deferred<void>();
    store.onAcquire = () => answer.promise.then(() => undefined);
    const waiting = Array.from({ length: 5 }, () =>
      watch(locks.acquire('export', { permits: 2, waitTimeout: 1_000 })),
    );
    expect(store.requests).toHaveLength(2);
    answer.resolve();
    await clock.advance(1_200);
    expect(new Set(store.requests.map(({ token }) => token)).size).toBe(2);
    expect(waiting.every(({ error }) => error instanceof LockTimeoutError)).toBe(true);
    expect(waiting.map(({ error }) => (error as Error).message)).toContain(
      'Lock "export" was not acquired within 1000 ms: none of its 2 permits is free',
    );
  });
});

describe('a store that cannot count', () => {
  it('has semaphores and read locks refused with its reason, before it is asked', async () => {
    const sharingUnsupported = 'a majority cannot count';
    const { locks, store } = onFakeStore({}, { fencing: true, ttl: true, sharingUnsupported });
    for (const refused of [
      locks.withPermit('a', { permits: 2 }, () => 1),
      locks.acquire('a', { permits: 2 }),
      locks.tryAcquire('a', { mode: 'read' }),
      locks.withLock('a', { mode: 'read' }, () => 1),
    ]) {
      const error = await rejectionOf(refused);
      expect(error).toBeInstanceOf(LockUnsupportedError);
      expect(error).toMatchObject({ code: 'LOCK_UNSUPPORTED', key: 'a', store: 'fake' });
      expect(error.message).toMatch(/ has no (semaphores|read locks) \(key "a"\): a majority/);
    }
    expect(store.requests).toEqual([]);
  });

  it('may say nothing of it', async () => {
    const { locks } = onFakeStore();
    await expect(locks.acquire('a', { permits: 2 })).rejects.toThrow(
      'Lock store "fake" has no semaphores (key "a")',
    );
    await expect(locks.acquire('a', { mode: 'read' })).rejects.toThrow(
      'Lock store "fake" has no read locks (key "a")',
    );
  });

  it('has those who wait for a permit polled, where they do not stand in its line', async () => {
    const supports = { fencing: true, ttl: true, semaphores: 'polled' } as const;
    const { locks, store, clock, lease } = onFakeStore(
      { retryDelay: 10, retryJitter: 0 },
      supports,
    );
    const acquire = jest.fn(() => Promise.reject(new Error('not here')));
    Object.assign(store, { acquire });
    store.onAcquire = async () => (store.requests.length > 2 ? lease : undefined);
    const outcome = watch(locks.acquire('a', { permits: 2 }));
    await clock.advance(30);
    expect(outcome.status).toBe('fulfilled');
    expect(acquire).not.toHaveBeenCalled();
  });
});

describe('bad options', () => {
  it.each([
    [{ permits: 0 }, RangeError, /permits must be a whole number of permits from 1/],
    [{ permits: 1.5 }, RangeError, /permits must be .* got 1.5/],
    [{ permits: Infinity }, RangeError, /permits/],
    [{ permits: '5' }, TypeError, /permits must be .* got the string "5"/],
    [{ mode: 'shared' }, TypeError, /mode must be 'read' or 'write', got the string "shared"/],
    [{ mode: 'read', permits: 3 }, TypeError, /either a mode or permits/],
  ])('%j', async (options, type, message) => {
    const { locks } = inMemory();
    const error = await rejectionOf(locks.acquire('a', options as never));
    expect(error).toBeInstanceOf(type);
    expect(error.message).toMatch(message);
  });

  it('withPermit without permits', async () => {
    const { locks } = inMemory();
    await expect(locks.withPermit('a', {} as never, () => 1)).rejects.toThrow(/permits must be/);
    await expect(locks.withPermit('a', undefined as never, () => 1)).rejects.toThrow(/permits/);
  });

  it.each([
    ['a number', 5, 'got 5'],
    ['the work', () => 1, 'got a function'],
  ])('withPermit with %s for options', async (_, options, got) => {
    const { locks } = inMemory();
    const error = await rejectionOf(locks.withPermit('a', options as never, () => 1));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toBe(
      `the options of withPermit must be an object, such as { permits: 5 }, ${got}`,
    );
  });

  it('withPermit without work', async () => {
    const { locks } = inMemory();
    const call = locks.withPermit('a', { permits: 5 }, undefined as never);
    await expect(call).rejects.toThrow('withPermit expects a function as its last argument');
  });

  it.each([{ mode: 'read' }, { permits: 2 }])('%j as a default of the service', (defaults) => {
    const { store } = inMemory();
    expect(() => new LockService(store, defaults as never)).toThrow(/belongs to a call/);
  });
});
