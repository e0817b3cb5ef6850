import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { lockDashboard } from 'nest-holdfast/dashboard';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { Events, snapshotAt } from '../support/browser-requests.js';
import { serve } from '../support/served.js';

const LOCKS = 9_000;
const HERE = 1_000;
const WAITERS = 1_000;
/** Milliseconds. On a machine that is not busy, it is within one second. */
const FIRST_WITHIN = 10_000;

it('10,000 held locks and 1,000 waiters are shown at once, and to all who look by one round', async () => {
  const server = await RedisServer.start();
  const clients = [new Redis(server.url), new Redis(server.url)];
  const [locks, others] = clients.map(
    (client) =>
      new LockService(new RedisLockStore(client), { ttl: 300_000, storeTimeout: 120_000 }),
  ) as [LockService, LockService];
  const take = (service: LockService, count: number, prefix: string) =>
    Promise.all(Array.from({ length: count }, (_, index) => service.acquire(`${prefix}:${index}`)));
  await take(others, LOCKS, 'theirs');
  await take(locks, HERE, 'ours');
  const waits = Array.from({ length: WAITERS }, (_, index) =>
    locks.acquire(`theirs:${index % 100}`, { waitTimeout: 300_000 }),
  );
  await until(() => locks.waiting().length === WAITERS);

  const page = lockDashboard({ locks, authorize: 'public' });
  const served = await serve(page);
  const since = performance.now();
  const readers = await Promise.all(
    Array.from({ length: 10 }, () => Events.open(`${served.origin}/api/events?key=theirs:7`)),
  );
  await Promise.all(readers.map((reader) => reader.until(() => true)));
  const first = performance.now() - since;
  const whole = await readers[0]!.until(({ isComplete }) => isComplete);
  const after = performance.now() - since;
  console.log(
    `first answer after ${Math.round(first)} ms, all of it after ${Math.round(after)} ms`,
  );
  expect(first).toBeLessThan(FIRST_WITHIN);
  expect(whole.total).toBe(LOCKS + HERE);
  expect(whole.locks).toHaveLength(200);
  expect(whole.detail).toMatchObject({ key: 'theirs:7', waiterCount: 10 });

  const { locks: rows } = await snapshotAt(`${served.origin}/`, '?search=ours:77');
  expect(rows.map(({ key }) => key)).toContain('ours:777');

  for (const reader of readers) reader.close();
  page.close();
  await served.close();
  locks.endWaits();
  await Promise.allSettled(waits);
  await Promise.all([locks.close(), others.close()]);
  for (const client of clients) await client.quit();
  await server.stop();
});
