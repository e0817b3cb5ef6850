import { LockDeadlockError } from 'nest-holdfast/core';
import { deferred, rejectionOf, watch } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

const REENTRANT = { reentrant: true };

describe('withLock inside withLock, with reentrant: true', () => {
  it('re-enters the key without asking the store, and the outermost releases', async () => {
    const { locks, store, lease, events } = onFakeStore(REENTRANT);
    const result = await locks.withLock('a', async (outer) => {
      const inner = await locks.withLock('a', (lock) => {
        expect(lock.fencingToken).toBe(outer.fencingToken);
        return locks.withLock('a', { ttl: 500 }, () => 'innermost');
      });
      expect(lease.releases).toBe(0);
      expect(outer.isHeld).toBe(true);
      return inner;
    });
    expect(result).toBe('innermost');
    expect(store.requests).toHaveLength(1);
    expect([lease.extensions, lease.releases]).toEqual([[], 1]);
    expect(events).toEqual(['held', 'reentered', 'reentered', 'released']);
  });

  it('re-enters some of several keys, in any order', async () => {
    const { locks, store } = onFakeStore(REENTRANT);
    await locks.withLock(['a', 'b', 'c'], async () => {
      await locks.withLock('b', () => 1);
      await locks.withLock(['c', 'a'], () => 1);
      await locks.withLock(['c', 'b', 'a', 'a'], () => 1);
    });
    expect(store.requests).toHaveLength(1);
  });

  it('re-enters the lock of an outer context past an inner one', async () => {
    const { locks, store } = onFakeStore(REENTRANT);
    await locks.withLock('a', () =>
      locks.withLock('b', () => locks.withLock('a', () => locks.withLock('b', () => 1))),
    );
    expect(store.requests.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('two at once are counted: the last one to leave releases', async () => {
    const { locks, lease, clock } = onFakeStore(REENTRANT);
    const [first, second] = [deferred<number>(), deferred<number>()];
    const outcome = watch(
      locks.withLock('a', () =>
        Promise.all([
          locks.withLock('a', () => first.promise),
          locks.withLock('a', () => second.promise),
        ]),
      ),
    );
    second.resolve(2);
    await clock.advance(0);
    expect(lease.releases).toBe(0);
    first.resolve(1);
    await clock.advance(0);
    expect(outcome.value).toEqual([1, 2]);
    expect(lease.releases).toBe(1);
  });

  it('an inner one that outlives the outer one keeps the lock', async () => {
    const { locks, lease, clock } = onFakeStore(REENTRANT);
    const work = deferred<void>();
    let inner!: Promise<unknown>;
    await locks.withLock('a', () => {
      inner = locks.withLock('a', (lock) => work.promise.then(() => lock.isHeld));
    });
    expect(lease.releases).toBe(0);
    work.resolve();
    expect(await inner).toBe(true);
    await clock.advance(0);
    expect(lease.releases).toBe(1);
  });

  it('an error of the inner work is an error of the outer one only if it lets it through', async () => {
    const { locks, lease } = onFakeStore(REENTRANT);
    const failure = new Error('inner');
    const inner = () => locks.withLock('a', () => Promise.reject(failure));
    expect(await locks.withLock('a', () => inner().catch(() => 'caught'))).toBe('caught');
    expect(await rejectionOf(locks.withLock('a', inner))).toBe(failure);
    expect(lease.releases).toBe(2);
  });

  it('a loss is told to both', async () => {
    const { locks, clock } = onFakeStore({ ...REENTRANT, ttl: 100 });
    let inner: unknown;
    const outer = await rejectionOf(
      locks.withLock('a', async () => {
        inner = await rejectionOf(locks.withLock('a', () => clock.jump(1_000)));
      }),
    );
    expect(inner).toMatchObject({ code: 'LOCK_LOST' });
    expect(outer).toMatchObject({ code: 'LOCK_LOST' });
  });
});

describe('with reentrant: true, what cannot be shared is refused at once', () => {
  it('acquire of keys of which the context holds only some', async () => {
    const { locks, store } = onFakeStore(REENTRANT);
    await locks.withLock(['a', 'b'], async () => {
      const error = await rejectionOf<LockDeadlockError>(locks.acquire(['z', 'b']));
      expect(error).toBeInstanceOf(LockDeadlockError);
      expect(error).toMatchObject({ code: 'LOCK_DEADLOCK', key: 'b, z' });
      expect(error.message).toBe(
        'Lock "b, z" would wait for itself: the calling context already holds "a, b". ' +
          'A nested call shares a lock when it asks for no keys beyond those of that lock',
      );
    });
    expect(store.requests).toHaveLength(1);
  });

  it('withLock of keys of which the context holds only some', async () => {
    const { locks, store } = onFakeStore(REENTRANT);
    const work = jest.fn();
    await locks.withLock('a', async () => {
      const error = await rejectionOf(locks.withLock(['a', 'b'], work));
      expect(error).toBeInstanceOf(LockDeadlockError);
    });
    expect(work).not.toHaveBeenCalled();
    expect(store.requests).toHaveLength(1);
  });

  it('keys that the context holds by two locks are not one lock to re-enter', async () => {
    const { locks } = onFakeStore(REENTRANT);
    await locks.withLock('a', () =>
      locks.withLock('b', async () => {
        expect(await rejectionOf(locks.withLock(['a', 'b'], () => 1))).toBeInstanceOf(
          LockDeadlockError,
        );
      }),
    );
  });

  it('tryAcquire without it says that the key is held, without asking the store', async () => {
    const { locks, store } = onFakeStore();
    await locks.withLock('a', async () => {
      expect(await locks.tryAcquire('a')).toBeUndefined();
      expect(await locks.tryAcquire(['a', 'b'])).toBeUndefined();
      expect(await locks.tryAcquire('c')).toBeDefined();
    });
    expect(store.requests.map(({ key }) => key)).toEqual(['a', 'c']);
  });

  it("a lock that acquire took is not the context's: the second caller waits", async () => {
    const { locks, clock } = inMemory(REENTRANT);
    const lock = await locks.acquire('a');
    expect(locks.current()).toBeUndefined();
    const second = watch(locks.acquire('a', { waitTimeout: 100 }));
    await clock.advance(100);
    expect(second.error).toMatchObject({ code: 'LOCK_TIMEOUT' });
    await lock.release();
  });
});
