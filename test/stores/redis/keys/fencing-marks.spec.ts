import { Cluster } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { AppInstance, standing } from '../../support/app-instance.js';
import { OwnClient, aRequest, disconnect, markOf } from '../locks.js';

const KEY = 'order:42';
const ALL = [KEY, 'order:43'];
/** The machine may be busy. */
const SLOW = { storeTimeout: 30_000 };

describe('The numbers of fencing tokens on one server', () => {
  let server: RedisServer;
  let own: AppInstance;
  let other: AppInstance;

  beforeEach(async () => {
    server = await RedisServer.shared();
    own = new AppInstance(server.url);
    other = new AppInstance(server.url);
  });

  afterEach(async () => {
    await Promise.all([own, other].map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  it('are about a thousand that expire, however many locks there were', async () => {
    for (let wave = 0; wave < 10; wave++) {
      const keys = Array.from({ length: 300 }, (_, index) => `order:${wave}:${index}`);
      await Promise.all(keys.map((key) => own.locks.withLock(key, SLOW, () => {})));
    }
    const left = (await server.command('KEYS', '*')) as string[];
    expect(left.length).toBeGreaterThan(900);
    expect(left.length).toBeLessThanOrEqual(1_024);
    expect(left.filter((name) => !/^\{lock:mark:\d+\}:fence$/.test(name))).toEqual([]);
    const ttls = await Promise.all(left.map((name) => server.command('TTL', name)));
    for (const ttl of ttls) expect(ttl).toBeGreaterThan(0);
  });

  it('are one for all who have a lock, whichever way they got it', async () => {
    const ahead = BigInt(Date.now()) * 1_000n + 3_600_000_000n;
    await server.command('SET', markOf(KEY), String(ahead), 'EX', 3_600);
    const tokens = [ahead];
    const take = async (service: LockService, key: string | string[] = KEY) => {
      const lock = await service.acquire(key);
      tokens.push(lock.fencingToken);
      return lock;
    };
    await (await take(own.locks)).release();
    await (await take(other.locks, ALL)).release();
    const reader = await own.locks.acquire(KEY, { mode: 'read' });
    await reader.release();
    const writer = await take(own.locks);
    await writer.downgrade();
    await writer.release();
    const held = await take(own.locks);
    const handed = take(other.locks);
    await standing(server, KEY, 1);
    await held.release();
    const claimed = await handed;
    const passed = take(other.locks);
    await claimed.release();
    await (await passed).release();
    await Promise.all(Array.from({ length: 20 }, async () => (await take(own.locks)).release()));
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(tokens).toEqual(tokens.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(await server.command('KEYS', `*${KEY}*`)).toEqual([]);
  });

  it('are larger for several keys that share one', async () => {
    const first = 'a';
    const second = Array.from({ length: 5_000 }, (_, index) => `b${index}`).find(
      (key) => markOf(key) === markOf(first),
    )!;
    const both = await own.locks.acquire([first, second]);
    expect(await both.release()).toBe(true);
    expect((await other.locks.acquire(second)).fencingToken).toBeGreaterThan(both.fencingToken);
  });

  it('bound what inspect tells', async () => {
    const lock = await own.locks.acquire(KEY);
    const { fencingToken } = (await other.locks.inspect(KEY))!;
    expect(fencingToken).toBeGreaterThanOrEqual(lock.fencingToken);
    await server.command('SET', 'lock:foreign', 'their-token', 'PX', 60_000);
    expect((await own.locks.inspect('foreign'))!.fencingToken).toBeUndefined();
  });

  it('stand in the database of the locks', async () => {
    await using client = new OwnClient(server.url, { db: 1 });
    const store = new RedisLockStore(client.redis);
    await (await store.tryAcquire(aRequest(KEY)))!.release();
    expect(await client.redis.keys('*')).toEqual([markOf(KEY)]);
    await store.close();
    await client.redis.flushdb();
  });

  it('are not those of a node of several, where each lock has one', async () => {
    const store = new RedisLockStore(own.redis);
    store.joinQuorum();
    await (await store.tryAcquire(aRequest(KEY)))!.release();
    expect(await server.command('KEYS', '*')).toEqual([`{lock:${KEY}}:fence`]);
    await store.close();
  });
});

it('On a Cluster, the number of fencing tokens is beside the lock, for an hour', async () => {
  const cluster = await RedisCluster.shared();
  const client = new Cluster(cluster.startupNodes);
  const locks = new LockService(new RedisLockStore(client));
  await locks.withLock(KEY, () => {});
  const ttl = await client.ttl(`{lock:${KEY}}:fence`);
  expect(ttl).toBeGreaterThan(3_500);
  expect(ttl).toBeLessThanOrEqual(3_600);
  await locks.close();
  disconnect(client);
  await cluster.stop();
});
