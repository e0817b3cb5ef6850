import { LockLostError } from 'nest-holdfast/core';
import { deferred, never } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

describe('the signal aborts no later than the key can expire', () => {
  it.each([
    ['a renewal hangs', never<boolean>],
    ['every renewal fails', () => Promise.reject(new Error('down'))],
  ])('although %s', async (_, onExtend) => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 1_000, storeTimeout: 60_000 });
    const lock = await locks.acquire('a');
    const { signal } = lock;
    lease.onExtend = onExtend;
    await clock.advance(987);
    expect(signal.aborted).toBe(false);
    expect(lock.state).toBe('jeopardy');
    await clock.advance(1);
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(signal.reason).toMatchObject({ key: 'a', reason: 'expired', code: 'LOCK_LOST' });
    expect(lock.state).toBe('lost');
    expect(lock.remaining).toBe(0);
    expect(events.filter((each) => each === 'lost')).toHaveLength(1);
  });

  it('although the last answer came in time for the store, but was sent long ago', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 900 });
    const lock = await locks.acquire('a');
    const { signal } = lock;
    lease.onExtend = () => {
      const answer = deferred<boolean>();
      clock.schedule(290, () => answer.resolve(true));
      return answer.promise;
    };
    await clock.advance(590);
    expect(lock.remaining).toBe(900 - 11 - 290);
    lease.onExtend = never;
    await clock.advance(598);
    expect(signal.aborted).toBe(false);
    await clock.advance(1); // 300 + 889
    expect(signal.aborted).toBe(true);
  });

  it('also when it is asked for after the loss', async () => {
    const { locks, clock } = onFakeStore({ ttl: 1_000, autoExtend: false });
    const lock = await locks.acquire('a');
    await clock.advance(1_000);
    const { signal } = lock;
    expect(signal.aborted).toBe(true);
    expect(lock.signal).toBe(signal);
    expect(signal.reason).toMatchObject({ reason: 'expired' });
  });
});

describe('a lock whose key is gone', () => {
  it('is lost when the store says so, not tried again', async () => {
    const { locks, lease, clock, events } = onFakeStore({ ttl: 3_000 });
    const lock = await locks.acquire(['a', 'b']);
    const { signal } = lock;
    lease.onExtend = () => Promise.resolve(false);
    const lost = jest.fn();
    locks.events.on('lost', lost);
    await clock.advance(1_000);
    expect(lock.state).toBe('lost');
    expect(signal.reason).toMatchObject({ reason: 'gone', key: 'a, b' });
    expect((signal.reason as Error).message).toBe(
      'Lock "a, b" is no longer held: the store no longer has it',
    );
    expect(events).toEqual(['held', 'lost']);
    expect(lost).toHaveBeenCalledWith({
      key: 'a',
      keys: ['a', 'b'],
      name: undefined,
      mode: 'write',
      store: 'fake',
      fencingToken: 7n,
      heldFor: 1_000,
      error: signal.reason,
    });
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(60_000);
    expect(lease.extensions).toHaveLength(1);
  });

  it('is lost without a listener', async () => {
    const { locks, others, store, clock } = inMemory({ ttl: 3_000 });
    const lock = await locks.acquire('a');
    const request = { key: 'a', keys: ['a'], token: 'x', ttl: 1_000 };
    jest.spyOn(store, 'tryAcquire');
    clock.jump(3_000);
    await store.tryAcquire(request);
    await clock.advance(0);
    expect(lock.state).toBe('lost');
    expect(await others.tryAcquire('a')).toBeUndefined();
  });
});
