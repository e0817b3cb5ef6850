import { LockService } from 'nest-holdfast/core';
import { PAGE_STORES } from '../dashboard/support/page-stores.js';
import type { PageStore } from '../dashboard/support/page-stores.js';
import { until } from '../support/until.js';
import type { Opened } from './support/backends.js';

/** Their waiters ask again and again: nothing tells them. */
const POLLED = ['SQLite', 'PostgreSQL that is polled', 'MariaDB'];
const STORES = PAGE_STORES.filter(([name]) => !POLLED.includes(name));
/** Between two questions of a waiter that would poll, and longer than this spec may take. */
const NEVER = { waitTimeout: 1_200_000, retryDelay: 600_000, retryJitter: 0 };

describe.each(STORES)('On %s, the take of a key', (_, start) => {
  let started: PageStore;
  let opened: Opened[];

  beforeAll(async () => {
    started = await start();
    opened = [started.open(), started.open(), started.open()];
  });
  afterAll(async () => {
    for (const { close } of opened) await close?.();
    await started.stop?.();
  });

  it('hands it to the next waiter, who does not have to ask', async () => {
    const services = opened.map(({ store }) => new LockService(store, { storeTimeout: 10_000 }));
    const [holder, waiter, operator] = services as [LockService, LockService, LockService];
    const { fencingToken } = await holder.acquire('key');
    const waiting = waiter.acquire('key', NEVER);
    await until(async () => (await operator.inspect('key'))?.waiterCount === 1);
    const asked = jest.spyOn(opened[1]!.store, 'tryAcquire');
    const eviction = await operator.evict('key', { fencingToken, grace: 0 });
    expect(eviction.outcome).toBe('taken');
    const next = await waiting;
    expect(next.fencingToken > eviction.tokenAfter!).toBe(true);
    expect(asked).not.toHaveBeenCalled();
    await next.release();
    await Promise.all(services.map((service) => service.close()));
  });
});
