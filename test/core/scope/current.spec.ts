import { AsyncLocalStorage } from 'node:async_hooks';
import { LockScope } from 'nest-holdfast/core';
import { rejectionOf } from '../support/outcome';
import { onFakeStore } from '../support/setup';

describe('current', () => {
  it('is nothing outside of a lock', async () => {
    const { locks } = onFakeStore();
    expect(locks.current()).toBeUndefined();
    expect(locks.current('a')).toBeUndefined();
    await locks.withLock('a', () => 1);
    expect(locks.current()).toBeUndefined();
  });

  it('is the innermost lock, or that of a key', async () => {
    const { locks } = onFakeStore();
    await locks.withLock(['a', 'b'], (outer) =>
      locks.withLock('c', async (inner) => {
        await Promise.resolve();
        expect(locks.current()).toBe(inner);
        expect(locks.current('c')).toBe(inner);
        expect(locks.current('a')).toBe(outer);
        expect(locks.current('b')).toBe(outer);
        expect(locks.current('d')).toBeUndefined();
      }),
    );
  });

  it('costs the process nothing more once the service is closed', async () => {
    const disabled = jest.spyOn(AsyncLocalStorage.prototype, 'disable');
    const { locks } = onFakeStore();
    await locks.withLock('a', () => 1);
    expect(disabled).not.toHaveBeenCalled();
    await locks.close();
    expect(disabled).toHaveBeenCalledTimes(1);
    disabled.mockRestore();
  });

  it('is the outer lock when the inner one was released before the end of its work', async () => {
    const { locks } = onFakeStore();
    await locks.withLock('a', (outer) =>
      locks.withLock('b', async (inner) => {
        await inner.release();
        expect(locks.current()).toBe(outer);
        expect(locks.current('b')).toBeUndefined();
      }),
    );
  });
});

describe('enter', () => {
  it('takes a lock for work that is not one promise', async () => {
    const { locks, lease } = onFakeStore();
    const scope = await locks.enter('a');
    expect(scope).toBeInstanceOf(LockScope);
    expect(scope.lock.isHeld).toBe(true);
    expect(locks.current()).toBeUndefined();
    expect(scope.run(() => locks.current())).toBe(scope.lock);
    expect(locks.current()).toBeUndefined();
    await scope.leave();
    expect(lease.releases).toBe(1);
    expect(scope.lock.isHeld).toBe(false);
    expect(() => scope.assertKept(1)).not.toThrow();
  });

  it('re-enters, and releases when the last scope is left', async () => {
    const { locks, store, lease } = onFakeStore({ reentrant: true });
    const outer = await locks.enter('a');
    const inner = await outer.run(() => locks.enter('a'));
    expect(store.requests).toHaveLength(1);
    expect(await outer.leave()).toBe(true);
    expect(lease.releases).toBe(0);
    expect(await inner.leave()).toBe(true);
    expect(lease.releases).toBe(1);
  });

  it('leaving twice does not leave for another', async () => {
    const { locks, lease } = onFakeStore({ reentrant: true });
    const outer = await locks.enter('a');
    const inner = await outer.run(() => locks.enter('a'));
    await inner.leave();
    await inner.leave();
    expect(lease.releases).toBe(0);
    expect(outer.lock.isHeld).toBe(true);
    await outer.leave();
    await outer.leave();
    expect(lease.releases).toBe(1);
  });

  it('leaving never rejects, and tells what the release did', async () => {
    const { locks, lease } = onFakeStore();
    lease.onRelease = () => Promise.reject(new Error('down'));
    const scope = await locks.enter('a');
    expect(await scope.leave()).toBe(false);
  });

  it('assertKept throws, with the result, when the lock was lost', async () => {
    const { locks, clock } = onFakeStore({ ttl: 100 });
    const scope = await locks.enter('a');
    clock.jump(1_000);
    expect(() => scope.assertKept('paid')).toThrow(
      expect.objectContaining({ code: 'LOCK_LOST', reason: 'expired', result: 'paid' }),
    );
  });

  it('hold runs work, and releases however it ends', async () => {
    const { locks, lease } = onFakeStore();
    const failure = new Error('failed');
    expect(await (await locks.enter('a')).hold((lock) => lock.key)).toBe('a');
    expect(await rejectionOf((await locks.enter('a')).hold(() => Promise.reject(failure)))).toBe(
      failure,
    );
    expect(lease.releases).toBe(2);
  });
});
