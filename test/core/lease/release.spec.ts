import { LockLostError } from 'nest-holdfast/core';
import { deferred, never, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

describe('release', () => {
  it('frees the key and leaves no timer', async () => {
    const { locks, others, clock } = inMemory();
    const lock = await locks.acquire('a');
    expect(await lock.release()).toBe(true);
    expect(lock.isHeld).toBe(false);
    expect(lock.state).toBe('released');
    expect(lock.remaining).toBe(0);
    expect(clock.pendingTimers).toBe(0);
    expect(await others.tryAcquire('a')).toBeDefined();
  });

  it('ends the lock before the store has answered', async () => {
    const { locks, lease } = onFakeStore();
    lease.onRelease = never;
    const lock = await locks.acquire('a');
    void lock.release();
    expect(lock.state).toBe('released');
    expect(() => lock.assertHeld()).toThrow(LockLostError);
  });

  it('is safe to call twice: the store is asked once', async () => {
    const { locks, lease } = onFakeStore();
    const lock = await locks.acquire('a');
    const first = lock.release();
    expect(lock.release()).toBe(first);
    expect(await lock.release()).toBe(true);
    expect(lease.releases).toBe(1);
  });

  it('does not abort the signal', async () => {
    const { locks, clock } = onFakeStore();
    const lock = await locks.acquire('a');
    const { signal } = lock;
    await lock.release();
    await clock.advance(60_000);
    expect(signal.aborted).toBe(false);
    expect(lock.signal.aborted).toBe(false);
  });

  it('that is answered after the ttl is no loss: the lock was held at the call', async () => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 1_000 });
    const answer = deferred<boolean>();
    lease.onRelease = () => answer.promise;
    const errors: unknown[] = [];
    locks.events.on('releaseFailed', ({ error }) => errors.push(error));
    const work = watch(locks.withLock('a', () => 'paid'));
    await clock.advance(1_000);
    answer.resolve(false);
    await clock.advance(0);
    expect(work.value).toBe('paid');
    expect(events).toEqual(['held', 'released', 'releaseFailed']);
    expect(errors).toEqual([
      new Error('the answer came after the ttl, which may have freed the key'),
    ]);
  });

  it('that finds the key gone before the ttl is a loss', async () => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 1_000 });
    const answer = deferred<boolean>();
    lease.onRelease = () => answer.promise;
    const work = watch(locks.withLock('a', () => 'paid'));
    await clock.advance(900);
    answer.resolve(false);
    await clock.advance(0);
    expect(work.error).toMatchObject({ code: 'LOCK_LOST', reason: 'gone', result: 'paid' });
    expect(events).toEqual(['held', 'lost']);
  });

  it('makes every later use of the lock a LockLostError', async () => {
    const { locks, lease } = onFakeStore();
    const lock = await locks.acquire(['a', 'b']);
    await lock.release();
    const error = await rejectionOf<LockLostError>(lock.extend(1_000));
    expect(error).toBeInstanceOf(LockLostError);
    expect(error).toMatchObject({ code: 'LOCK_LOST', reason: 'released', key: 'a, b' });
    expect(error.message).toBe('Lock "a, b" is no longer held: it was released');
    expect(() => lock.assertHeld()).toThrow(error.message);
    expect(lease.extensions).toEqual([]);
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
    'never rejects: false when the store %s, and the event releaseFailed',
    async (_, onRelease) => {
      const { locks, lease, clock, events } = onFakeStore();
      lease.onRelease = onRelease;
      const lock = await locks.acquire('a');
      const failed = jest.fn();
      locks.events.on('releaseFailed', failed);
      expect(await lock.release()).toBe(false);
      expect(lock.state).toBe('released');
      expect(events).toEqual(['held', 'released', 'releaseFailed']);
      expect(failed).toHaveBeenCalledWith({
        key: 'a',
        keys: ['a'],
        name: undefined,
        mode: 'write',
        store: 'fake',
        fencingToken: 7n,
        heldFor: 0,
        error: new Error('down'),
      });
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('waits for a store that hangs for storeTimeout at most', async () => {
    const { locks, lease, clock, events } = onFakeStore({ storeTimeout: 300 });
    lease.onRelease = never;
    const lock = await locks.acquire('a');
    const released = watch(lock.release());
    await clock.advance(299);
    expect(released.status).toBe('pending');
    await clock.advance(1);
    expect(released.value).toBe(false);
    expect(events).toEqual(['held', 'released', 'releaseFailed']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not mind an answer that comes after that', async () => {
    const { locks, lease, clock, events } = onFakeStore({ storeTimeout: 300 });
    const answer = deferred<boolean>();
    lease.onRelease = () => answer.promise;
    const lock = await locks.acquire('a');
    const released = watch(lock.release());
    await clock.advance(300);
    answer.resolve(true);
    await clock.advance(0);
    expect(released.value).toBe(false);
    expect(events).toEqual(['held', 'released', 'releaseFailed']);
  });

  it('finds out that the key was gone: the lock was lost, and says so', async () => {
    const { locks, lease, events } = onFakeStore();
    lease.onRelease = () => Promise.resolve(false);
    const lock = await locks.acquire('a');
    const { signal } = lock;
    expect(await lock.release()).toBe(false);
    expect(lock.state).toBe('lost');
    expect(signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
    expect(events).toEqual(['held', 'lost']);
  });

  it('of a lock that was lost is false, and does not ask the store', async () => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 100, autoExtend: false });
    const lock = await locks.acquire('a');
    await clock.advance(100);
    expect(await lock.release()).toBe(false);
    expect(lease.releases).toBe(0);
    expect(events).toEqual(['held', 'lost']);
  });

  it('cannot free the key of another holder', async () => {
    const { locks, others, clock, store } = inMemory({ ttl: 1_000, autoExtend: false });
    const stale = await locks.acquire('a');
    clock.jump(1_000);
    await clock.advance(0);
    const owner = await others.acquire('a');
    expect(await stale.release()).toBe(false);
    expect(owner.isHeld).toBe(true);
    expect(await store.inspect('a')).toMatchObject({ fencingToken: owner.fencingToken });
  });
});

describe('await using', () => {
  it('releases the lock at the end of the block', async () => {
    const { locks, lease } = onFakeStore();
    {
      await using lock = await locks.acquire('a');
      expect(lock.isHeld).toBe(true);
      expect(lease.releases).toBe(0);
    }
    expect(lease.releases).toBe(1);
  });

  it('lets an error of the block through, also when the release fails', async () => {
    const { locks, lease } = onFakeStore();
    lease.onRelease = () => Promise.reject(new Error('down'));
    const failure = new Error('the work failed');
    const block = async () => {
      await using lock = await locks.acquire('a');
      lock.assertHeld();
      throw failure;
    };
    expect(await rejectionOf(block())).toBe(failure);
    expect(lease.releases).toBe(1);
  });

  it('takes an undefined of tryAcquire', async () => {
    const { locks, store } = onFakeStore();
    store.onAcquire = () => Promise.resolve(undefined);
    {
      await using lock = await locks.tryAcquire('a');
      expect(lock).toBeUndefined();
    }
  });
});
