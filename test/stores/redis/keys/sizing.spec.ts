import type { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedlockStore } from 'nest-holdfast/redlock';
import { readPage } from '../../../readme/support/markdown.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { OwnClient } from '../locks.js';

const LOCKS = 4_000;
/** Callers at a time, so that no bundle of calls is unusual. */
const AT_A_TIME = 100;
const HOUR = 3_600;

/** As an application names its keys. */
const KEYS = Array.from({ length: LOCKS }, (_, index) => `order:${1_000_000 + index}`);

/** Bytes of each row in the table of docs/stores/redis.md. */
const documented = new Map(
  [...readPage('docs/stores/redis.md').prose.matchAll(/^\| (.+?) +\| ([\d,]+) bytes/gm)].map(
    ([, row, bytes]) => [row!, Number(bytes!.replaceAll(',', ''))],
  ),
);

describe('the memory that locks take on a server', () => {
  let server: RedisServer;
  let client: OwnClient;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.start(); // its memory is measured, so no other spec uses it
    client = new OwnClient(server.url);
    redis = client.redis;
  });

  beforeEach(() => redis.flushall());

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await server.stop();
  });

  it('a held lock', async () => {
    const locks = new LockService(new RedisLockStore(redis), { ttl: 600_000 });
    const { bytes } = await grown(() => each((key) => locks.acquire(key)));
    await locks.close();
    expectAsDocumented('a lock that is held', bytes / LOCKS);
  });

  it('a lock held by a reader', async () => {
    const locks = new LockService(new RedisLockStore(redis), { ttl: 600_000 });
    const { bytes } = await grown(() => each((key) => locks.acquire(key, { mode: 'read' })));
    await locks.close();
    expectAsDocumented('a lock that one reader holds', bytes / LOCKS);
  });

  it('released locks of one server: their common counters, which expire within an hour', async () => {
    const locks = new LockService(new RedisLockStore(redis));
    const { bytes, keys } = await grown(() => each((key) => locks.withLock(key, async () => {})));
    expect(keys).toBeLessThanOrEqual(1_024);
    const again = await grown(() => each((key) => locks.withLock(`more:${key}`, async () => {})));
    await locks.close();
    expect(again.keys).toBe(1_024);
    expect(again.bytes).toBeLessThan(64 * LOCKS); // nothing is left of a key
    await expireWithinAnHour();
    expectAsDocumented('all released locks of one server together', bytes);
  });

  it('released locks of a Redlock: a counter for each, for an hour', async () => {
    const nodes = [new RedisLockStore(redis)];
    const locks = new LockService(
      new RedlockStore(nodes, { quarantine: false, nodeTimeout: 10_000 }),
    );
    const { bytes, keys } = await grown(() => each((key) => locks.withLock(key, async () => {})));
    await locks.close();
    expect(keys).toBe(LOCKS);
    await expireWithinAnHour();
    expectAsDocumented('a released lock of a Redlock or a Cluster, for an hour', bytes / LOCKS);
  });

  async function each(call: (key: string) => Promise<unknown>): Promise<void> {
    for (let from = 0; from < LOCKS; from += AT_A_TIME)
      await Promise.all(KEYS.slice(from, from + AT_A_TIME).map(call));
  }

  /** What the data of the server has grown by: not its buffers, nor the scripts. */
  async function grown(work: () => Promise<void>) {
    const before = await dataset();
    await work();
    const [bytes, keys] = await Promise.all([dataset(), redis.dbsize()]);
    return { bytes: bytes - before, keys };
  }

  async function dataset(): Promise<number> {
    const stats = (await redis.call('MEMORY', 'STATS')) as (string | number | unknown[])[];
    const field = (name: string) => Number(stats[stats.indexOf(name) + 1] ?? 0);
    const table = stats[stats.indexOf('db.0') + 1];
    const overhead = Array.isArray(table)
      ? table.reduce<number>((sum, value) => sum + (typeof value === 'number' ? value : 0), 0)
      : 0;
    return field('dataset.bytes') + overhead;
  }

  async function expireWithinAnHour(): Promise<void> {
    const keys = await redis.keys('*');
    const ttls = (await redis.pipeline(keys.map((key) => ['ttl', key])).exec())!;
    for (const [, ttl] of ttls) {
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(HOUR);
    }
  }
});

/** Allocators differ between builds of Redis. */
function expectAsDocumented(row: string, bytes: number): void {
  const expected = documented.get(row);
  if (process.env['SIZING']) console.log(row, bytes);
  expect(expected).toBeDefined();
  expect(bytes).toBeGreaterThan(expected! * 0.6);
  expect(bytes).toBeLessThan(expected! * 1.5);
}
