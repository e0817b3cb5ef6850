import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { Events, snapshotAt } from '../support/browser-requests.js';
import { serve } from '../support/served.js';
import type { Served } from '../support/served.js';

/** Milliseconds from the end of a round to the next. */
const EVERY = 2_000;

describe('The cost of the page at Redis', () => {
  let server: RedisServer;
  let client: Redis;
  let locks: LockService;
  let served: Served;
  let base: string;
  const page = () => lockDashboard({ locks, authorize: 'public' });
  let dashboard: ReturnType<typeof page>;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.url);
    locks = new LockService(new RedisLockStore(client));
    await locks.withLock('warm', async () => undefined);
    dashboard = page();
    served = await serve(dashboard);
    base = `${served.origin}/`;
  });
  afterAll(async () => {
    dashboard.close();
    await served.close();
    await locks.close();
    await client.quit();
    await server.stop();
  });

  /** Calls of the commands by which the store lists: each round has at least one. */
  async function walks(): Promise<number> {
    const stats = String(await server.command('INFO', 'commandstats'));
    return Number(/^cmdstat_scan:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
  }

  /** All commands but those of new connections, and of the store's watch over its server, which asks every second. */
  async function commands(): Promise<number> {
    const stats = String(await server.command('INFO', 'commandstats'));
    const calls = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
    const ours = calls.filter(
      ([, name]) => !/^(info|time|hello|client|select|quit|ping)/.test(name!),
    );
    return ours.reduce((sum, [, , count]) => sum + Number(count), 0);
  }

  it('is nothing while no browser looks', async () => {
    const before = await commands();
    await new Promise((resolve) => setTimeout(resolve, 2.5 * EVERY));
    expect(await commands()).toBe(before);
  });

  it('is one round in 2 s, however many look, and nothing when they have gone', async () => {
    const [calls, since] = [await walks(), performance.now()];
    const readers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        Events.open(`${base}api/events?search=${index % 3}`),
      ),
    );
    await Promise.all(readers.map((reader) => until(() => reader.snapshots.length >= 3)));
    for (let time = 0; time < 20; time++) await snapshotAt(base);
    const rounds = Math.floor((performance.now() - since) / EVERY) + 1;
    const made = (await walks()) - calls;
    expect(made).toBeGreaterThanOrEqual(3);
    expect(made).toBeLessThanOrEqual(rounds);

    for (const reader of readers) reader.close();
    await until(async () => {
      const before = await commands();
      await new Promise((resolve) => setTimeout(resolve, 1.5 * EVERY));
      return (await commands()) === before;
    });
  });
});
