import { inMemory, onFakeStore } from '../support/setup';

describe('locks.held()', () => {
  it('lists what this service holds, the oldest first', async () => {
    const { locks, others, clock } = inMemory({ ttl: 3_000 });
    await locks.acquire('a', { name: 'first' });
    await clock.advance(500);
    await locks.acquire(['c', 'b'], { mode: 'read' });
    await others.acquire('d');
    expect(locks.held()).toEqual([
      {
        key: 'a',
        keys: ['a'],
        name: 'first',
        mode: 'write',
        permits: undefined,
        state: 'held',
        overdue: false,
        fencingToken: expect.any(BigInt),
        heldFor: 500,
        remaining: 3_000 - 500 - 32,
        waiters: 0,
      },
      {
        key: 'b',
        keys: ['b', 'c'],
        name: undefined,
        mode: 'read',
        permits: Infinity,
        state: 'held',
        overdue: false,
        fencingToken: undefined,
        heldFor: 0,
        remaining: 3_000 - 32,
        waiters: 0,
      },
    ]);
    expect(others.held()).toMatchObject([{ key: 'd' }]);
  });

  it('tells of a permit', async () => {
    const { locks } = inMemory();
    await locks.acquire('a', { permits: 3 });
    expect(locks.held()).toMatchObject([{ mode: 'permits', permits: 3 }]);
  });

  it('counts the callers that wait for it', async () => {
    const { locks } = inMemory();
    const lock = await locks.acquire('a');
    const waiting = [locks.acquire('a'), locks.acquire(['a', 'b'])];
    expect(locks.held()).toMatchObject([{ key: 'a', waiters: 2 }]);
    await lock.release();
    await (await waiting[0]!).release();
    await (await waiting[1]!).release();
    expect(locks.held()).toEqual([]);
  });

  it('tells of a lock in jeopardy, and of none that is lost', async () => {
    const { locks, lease, clock } = onFakeStore({ ttl: 3_000 });
    await locks.acquire('a');
    lease.onExtend = () => Promise.reject(new Error('down'));
    await clock.advance(1_000);
    expect(locks.held()).toMatchObject([{ state: 'jeopardy', heldFor: 1_000 }]);
    await clock.advance(10_000);
    expect(locks.held()).toEqual([]);
  });

  it('asks the store nothing', async () => {
    const { locks, store } = onFakeStore();
    await locks.acquire('a');
    locks.held();
    expect(store.requests).toHaveLength(1);
  });
});
