import { LockUnsupportedError } from 'nest-holdfast/core';
import { inMemory, onFakeStore } from '../support/setup';

describe('a lock that is held', () => {
  it('tells its keys and its fencing token', async () => {
    const { locks } = onFakeStore();
    const lock = await locks.acquire(['b', 'a']);
    expect(lock.key).toBe('a');
    expect(lock.keys).toEqual(['a', 'b']);
    expect(lock.fencingToken).toBe(7n);
  });

  it('has a fencing token larger than that of every grant before', async () => {
    const { locks, others } = inMemory();
    let last = 0n;
    for (let i = 0; i < 10; i++) {
      const lock = await (i % 2 ? locks : others).acquire('a');
      expect(lock.fencingToken).toBeGreaterThan(last);
      last = lock.fencingToken;
      await lock.release();
    }
  });

  it('says that its store has no fencing tokens', async () => {
    const { locks, lease } = onFakeStore({}, { fencing: false, ttl: true, manyKeys: true });
    lease.fencingToken = undefined;
    const lock = await locks.acquire(['a', 'b']);
    expect(() => lock.fencingToken).toThrow(LockUnsupportedError);
    expect(() => lock.fencingToken).toThrow('Lock store "fake" has no fencing tokens (key "a, b")');
  });

  it('passes on a fencing token of 0', async () => {
    const { locks, lease } = onFakeStore();
    lease.fencingToken = 0n;
    expect((await locks.acquire('a')).fencingToken).toBe(0n);
  });

  it('tells how long it may be relied on', async () => {
    const { locks, clock } = onFakeStore({ ttl: 1_000, autoExtend: false });
    const lock = await locks.acquire('a');
    expect(lock.remaining).toBe(988);
    await clock.advance(300);
    expect(lock.remaining).toBe(688);
    await clock.advance(5_000);
    expect(lock.remaining).toBe(0);
  });

  it('has one signal, which does not abort', async () => {
    const { locks } = onFakeStore();
    const lock = await locks.acquire('a');
    const { signal } = lock;
    expect(signal.aborted).toBe(false);
    expect(lock.signal).toBe(signal);
    expect(() => lock.assertHeld()).not.toThrow();
  });

  it('needs one timer of the clock, however many locks there are', async () => {
    const { locks, clock } = onFakeStore();
    for (let i = 0; i < 50; i++) await locks.acquire(`key ${i}`);
    expect(clock.pendingTimers).toBe(1);
  });
});
