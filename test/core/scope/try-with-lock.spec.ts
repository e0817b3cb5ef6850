import { LockTimeoutError } from 'nest-holdfast/core';
import { rejectionOf } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

describe('tryWithLock', () => {
  it('runs the work under the lock, gives back its result, and releases', async () => {
    const { locks, others } = inMemory();
    const attempt = await locks.tryWithLock('a', async (lock) => {
      expect(lock.isHeld).toBe(true);
      expect(locks.current('a')).toBe(lock);
      expect(await others.tryAcquire('a')).toBeUndefined();
      return undefined;
    });
    expect(attempt).toEqual({ acquired: true, result: undefined });
    expect(await others.tryAcquire('a')).toBeDefined();
  });

  it('does not run the work, nor wait, where another caller holds the key', async () => {
    const { locks, others } = inMemory();
    const held = await others.acquire('a');
    const work = jest.fn();
    expect(await locks.tryWithLock('a', { waitTimeout: Infinity }, work)).toEqual({
      acquired: false,
    });
    expect(work).not.toHaveBeenCalled();
    await held.release();
  });

  it('is not acquired inside the same lock, unless it may share it', async () => {
    const { locks } = inMemory();
    await locks.withLock('a', async () => {
      expect(await locks.tryWithLock('a', () => 1)).toEqual({ acquired: false });
      const options = { reentrant: true };
      expect(await locks.tryWithLock('a', options, () => 1)).toEqual({ acquired: true, result: 1 });
    });
  });

  it('tells a timeout of a lock inside the work from its own', async () => {
    const { locks, others } = inMemory();
    const inner = await others.acquire('inner');
    const work = () => locks.withLock('inner', { waitTimeout: 0 }, () => 1);
    const error = await rejectionOf(locks.tryWithLock('outer', work));
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error).toMatchObject({ key: 'inner' });
    expect(await others.tryAcquire('outer')).toBeDefined();
    await inner.release();
  });

  it('comes through with an error of the work, and has released by then', async () => {
    const { locks, others } = inMemory();
    const broken = new Error('broken');
    const work = () => {
      throw broken;
    };
    expect(await rejectionOf(locks.tryWithLock('a', work))).toBe(broken);
    expect(await others.tryAcquire('a')).toBeDefined();
  });

  it('rejects without work, and takes no lock', async () => {
    const { locks, store } = onFakeStore();
    const call = locks.tryWithLock.bind(locks) as (...all: unknown[]) => Promise<unknown>;
    const error = await rejectionOf(call('a', { ttl: 500 }));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain('tryWithLock');
    expect(store.requests).toEqual([]);
  });
});
