import { LockService, MemoryLockStore } from 'nest-holdfast';
import type { AcquireRequest, Lease, LockStore } from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';

describe('The health of locks', () => {
  it('is up while the store answers, by either probe', async () => {
    const locks = new LockService(new MemoryLockStore());
    for (const probe of ['read', 'lock'] as const) {
      expect(await locks.health({ probe })).toEqual({
        status: 'up',
        store: 'memory',
        probe,
        duration: expect.any(Number),
      });
    }
    await locks.close();
  });

  it('is read by default, and asked by a lock where a store cannot inspect', async () => {
    expect(await new LockService(new MemoryLockStore()).health()).toMatchObject({ probe: 'read' });
    const inner = new MemoryLockStore();
    const { supports } = inner;
    const store: LockStore = { name: 'own', supports, tryAcquire: (each) => inner.tryAcquire(each) }; // prettier-ignore
    expect(await new LockService(store).health()).toMatchObject({ status: 'up', probe: 'lock' });
  });

  it('is down once the service is closed', async () => {
    const locks = new LockService(new MemoryLockStore());
    await locks.close();
    expect(await locks.health()).toMatchObject({ status: 'down', reason: 'closed' });
  });

  it.each([
    ['a code', Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:6379'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'], // prettier-ignore
    ['the word of a server', new Error("READONLY You can't write against db-1.internal"), 'READONLY'], // prettier-ignore
    ['a name', new TypeError('db-1.internal is away'), 'TypeError'],
    ['what is no error', 'db-1.internal', 'unknown'],
  ])('is down with %s, and never the host', async (_, error, reason) => {
    const store = new MemoryLockStore();
    jest.spyOn(store, 'inspect').mockRejectedValue(error);
    const health = await new LockService(store).health();
    expect(health).toMatchObject({ status: 'down', reason });
    expect(JSON.stringify(health)).not.toMatch(/10\.0|internal/);
  });

  it('is down in time, and frees a lock that comes late', async () => {
    const clock = new FakeClock();
    const store = new MemoryLockStore(clock);
    let answer!: () => void;
    const inTime = new Promise<void>((resolve) => (answer = resolve));
    const take = store.tryAcquire.bind(store);
    let lease: Lease | undefined;
    jest.spyOn(store, 'tryAcquire').mockImplementation(async (request: AcquireRequest) => {
      await inTime;
      return (lease = await take(request));
    });
    const health = new LockService(store, { clock }).health({ probe: 'lock', timeout: 200 });
    await clock.advance(200);
    expect(await health).toMatchObject({ status: 'down', reason: 'timeout', duration: 200 });
    answer();
    await clock.advance(0);
    expect(lease).toBeDefined();
    expect(await lease!.extend(1_000)).toBe(false);
  });

  it.each([
    ['up', 5],
    ['degraded', 3],
    ['down', 2],
  ])('is %s with %i of five nodes', async (status, up) => {
    const nodes = { up, needed: 3, total: 5 };
    const store = Object.assign(new MemoryLockStore(), { countNodes: async () => nodes });
    expect(await new LockService(store).health()).toMatchObject({ status, nodes });
  });
});
