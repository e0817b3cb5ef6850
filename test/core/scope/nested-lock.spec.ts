import type { Lock } from 'nest-holdfast/core';
import { deferred, rejectionOf } from '../support/outcome';
import { inMemory, onFakeStore } from '../support/setup';

const NESTED = { reentrant: true };

describe('a nested call has a lock of its own', () => {
  it('whose release leaves the outer one held', async () => {
    const { locks, lease } = onFakeStore();
    const result = await locks.withLock('a', async (outer) => {
      const seen = await locks.withLock('a', NESTED, async (inner) => {
        expect(inner).not.toBe(outer);
        expect(locks.current()).toBe(inner);
        expect(await inner.release()).toBe(true);
        expect(await inner.release()).toBe(true);
        expect(locks.current()).toBe(outer);
        expect(() => inner.assertHeld()).toThrow(
          expect.objectContaining({ code: 'LOCK_LOST', reason: 'released', key: 'a' }),
        );
        return [inner.isHeld, inner.state, inner.remaining, inner.signal.aborted];
      });
      expect([outer.isHeld, outer.state, lease.releases]).toEqual([true, 'held', 0]);
      return seen;
    });
    expect(result).toEqual([false, 'released', 0, false]);
    expect(lease.releases).toBe(1);
  });

  it('so that another process does not come in between', async () => {
    const { locks, others } = inMemory();
    await locks.withLock('a', async () => {
      await locks.withLock('a', NESTED, (inner) => inner.release());
      expect(await others.tryAcquire('a')).toBeUndefined();
    });
    expect(await others.tryAcquire('a')).toBeDefined();
  });

  it('and the release of the outer one leaves the nested one held', async () => {
    const { locks, lease } = onFakeStore();
    const over = deferred<void>();
    let nested!: Promise<boolean>;
    await locks.withLock('a', async (outer) => {
      nested = locks.withLock('a', NESTED, async (inner) => {
        await over.promise;
        inner.assertHeld();
        return outer.isHeld;
      });
      expect(await outer.release()).toBe(true);
      expect(locks.current()).toBeUndefined();
    });
    expect(lease.releases).toBe(0);
    over.resolve();
    expect(await nested).toBe(false);
    expect(lease.releases).toBe(1);
  });

  it('has the keys that it asked for, and what the lease has', async () => {
    const { locks } = onFakeStore();
    await locks.withLock(['a', 'b', 'c'], (outer) =>
      locks.withLock(['c', 'b'], NESTED, (inner) => {
        expect([inner.key, inner.keys]).toEqual(['b', ['b', 'c']]);
        expect(inner.fencingToken).toBe(outer.fencingToken);
        expect([inner.mode, inner.permits, inner.remaining]).toEqual([
          'write',
          undefined,
          outer.remaining,
        ]);
        expect([locks.current(), locks.current('c'), locks.current('a')]).toEqual([
          inner,
          inner,
          outer,
        ]);
      }),
    );
  });

  it('a nested call in a nested call needs no more than the outermost holds', async () => {
    const { locks, store } = onFakeStore();
    const nested = (keys: string[], work: () => unknown) => locks.withLock(keys, NESTED, work);
    await nested(['a', 'b'], () =>
      nested(['a'], () => nested(['b'], () => nested(['b', 'a'], String))),
    );
    expect(store.requests).toHaveLength(1);
  });

  it('work under it is not called lost for an event after its release', async () => {
    const { locks, clock } = onFakeStore({ ttl: 100, autoExtend: false });
    let nested: unknown;
    const outer = await rejectionOf(
      locks.withLock('a', async () => {
        nested = await locks.withLock('a', NESTED, async (inner) => {
          await inner.release();
          await clock.advance(1_000);
          expect(inner.state).toBe('released');
          return 'protected';
        });
      }),
    );
    expect(nested).toBe('protected');
    expect(outer).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
  });

  it('says so when it was lost before it was released', async () => {
    const { locks, clock } = onFakeStore({ ttl: 100, autoExtend: false });
    const outcome = locks.withLock('a', async () => {
      const inner = await locks.acquire('a', NESTED);
      await clock.advance(1_000);
      expect(await inner.release()).toBe(false);
      expect(inner.state).toBe('lost');
      expect(() => inner.assertHeld()).toThrow(expect.objectContaining({ reason: 'expired' }));
    });
    await rejectionOf(outcome);
  });
});

describe('a change of the lease is refused', () => {
  const change: Record<string, (lock: Lock) => Promise<void>> = {
    extended: (lock) => lock.extend(60_000),
    downgraded: (lock) => lock.downgrade(),
  };

  it.each(Object.keys(change))('to a nested call: it is not %s', async (what) => {
    const { locks } = inMemory();
    await locks.withLock('a', async (outer) => {
      const { remaining } = outer;
      const error = await locks.withLock('a', NESTED, (inner) => rejectionOf(change[what]!(inner)));
      expect(error).toMatchObject({ code: 'LOCK_UNSUPPORTED', key: 'a' });
      expect(error.message).toBe(
        `Lock "a" cannot be ${what} by a nested call, only by the call that took it`,
      );
      expect([outer.mode, outer.remaining]).toEqual(['write', remaining]);
    });
  });

  it('to the outer call: it is not downgraded while a nested one writes', async () => {
    const { locks, others } = inMemory();
    const over = deferred<void>();
    await locks.withLock('a', async (outer) => {
      const nested = locks.withLock('a', NESTED, () => over.promise);
      const error = await rejectionOf(outer.downgrade());
      expect(error).toMatchObject({ code: 'LOCK_UNSUPPORTED' });
      expect(error.message).toBe('Lock "a" cannot be downgraded while nested calls are at work');
      expect(await others.tryAcquire('a', { mode: 'read' })).toBeUndefined();
      await outer.extend(60_000);
      over.resolve();
      await nested;
      await outer.downgrade();
      expect(outer.mode).toBe('read');
    });
  });

  it('a reader that is nested has nothing to downgrade', async () => {
    const { locks } = inMemory();
    const READ = { mode: 'read', reentrant: true } as const;
    await locks.withLock('a', READ, () => locks.withLock('a', READ, (inner) => inner.downgrade()));
  });
});

describe('reentrant: true of acquire and tryAcquire', () => {
  it('shares the lock of the context, until it is released', async () => {
    const { locks, store, lease } = onFakeStore({ reentrant: true });
    const kept = await locks.withLock('a', async () => {
      const first = await locks.acquire('a');
      const second = (await locks.tryAcquire('a'))!;
      await first.release();
      return second;
    });
    expect([kept.isHeld, lease.releases]).toEqual([true, 0]);
    await kept.release();
    expect(lease.releases).toBe(1);
    expect(store.requests).toHaveLength(1);
  });

  it('is one attempt for what cannot be shared', async () => {
    const { locks } = inMemory({ reentrant: true });
    await locks.withLock('a', async () => {
      expect(await locks.tryAcquire(['a', 'b'])).toBeUndefined();
      expect(await locks.tryAcquire('b')).toBeDefined();
    });
    await locks.withLock('c', { mode: 'read' }, async () => {
      expect(await locks.tryAcquire('c')).toBeUndefined();
    });
  });
});

it('the event reentered tells of every share', async () => {
  const { locks, lease } = onFakeStore();
  const seen: unknown[] = [];
  locks.events.on('reentered', (event) => seen.push(event));
  await locks.withLock(['a', 'b'], async () => {
    await locks.withLock('b', NESTED, () => 1);
    await (await locks.acquire('a', NESTED)).release();
    await (await locks.tryAcquire('c', NESTED))!.release();
  });
  const { fencingToken } = lease;
  const common = { name: undefined, mode: 'write', store: 'fake', fencingToken };
  expect(seen).toEqual([
    { key: 'b', keys: ['b'], ...common },
    { key: 'a', keys: ['a'], ...common },
  ]);
});
