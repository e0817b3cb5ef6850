import * as fc from 'fast-check';
import { Cluster, type Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { createCluster } from 'redis';
import { clusterSlot, slotTag } from '../../../../lib/redis-client/cluster-slot.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { OwnClient, aRequest, disconnect } from '../locks.js';

/** Many of them have braces, in every order. */
const anyKey = fc
  .array(
    fc.oneof(
      fc.constantFrom('{', '}', '{}', '{a}', ':'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(''))
  .filter((key) => key !== '');

describe('RedisLockStore on a Cluster', () => {
  let cluster: RedisCluster;
  let client: Cluster;
  let asked: OwnClient;
  let redis: Redis;
  let locks: LockService;

  beforeAll(async () => {
    cluster = await RedisCluster.shared();
    client = new Cluster(cluster.startupNodes);
    asked = new OwnClient(cluster.nodes[0]!.url);
    ({ redis } = asked);
    locks = new LockService(new RedisLockStore(client));
  });

  afterAll(async () => {
    await locks.close();
    disconnect(client);
    await asked[Symbol.asyncDispose]();
    await cluster.stop();
  });

  it('computes the slots of the server, for any key', async () => {
    await fc.assert(
      fc.asyncProperty(anyKey, async (key) => {
        expect(clusterSlot(key)).toBe(await redis.cluster('KEYSLOT', key));
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds a tag for any key that puts another key into its slot', async () => {
    await fc.assert(
      fc.asyncProperty(anyKey, async (key) => {
        const other = `{${slotTag(key)}}:fence:${key}`;
        expect(await redis.cluster('KEYSLOT', other)).toBe(await redis.cluster('KEYSLOT', key));
      }),
      { numRuns: 2_000 },
    );
  });

  it('computes slots without a server as well: the examples of the specification', () => {
    expect(clusterSlot('123456789')).toBe(0x31c3);
    expect(clusterSlot('{user1000}.following')).toBe(clusterSlot('{user1000}.followers'));
    expect(clusterSlot('foo{}{bar}')).not.toBe(clusterSlot('bar'));
    expect(clusterSlot('foo{{bar}}zap')).toBe(clusterSlot('{bar'));
    expect(clusterSlot('foo{bar}{zap}')).toBe(clusterSlot('bar'));
  });

  it('takes, extends, inspects and frees any key: lock and counter share a slot', async () => {
    await fc.assert(
      fc.asyncProperty(anyKey, async (key) => {
        const lock = await locks.acquire(key);
        await lock.extend(20_000);
        expect(await locks.inspect(key)).toMatchObject({ key, fencingToken: lock.fencingToken });
        expect(await locks.tryAcquire(key)).toBeUndefined();
        expect(await lock.release()).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('takes keys of different slots one by one, all or none', async () => {
    const keys = Array.from({ length: 12 }, (_, index) => `many:${index}`);
    expect(new Set(keys.map((key) => clusterSlot(`lock:${key}`))).size).toBeGreaterThan(1);
    const blocker = await locks.acquire('many:7');
    expect(await locks.tryAcquire(keys)).toBeUndefined();
    for (const key of keys) {
      if (key !== 'many:7') expect(await locks.inspect(key)).toBeUndefined();
    }
    await blocker.release();

    const lock = await locks.acquire(keys, { waitTimeout: 0 });
    for (const key of keys) expect(await locks.tryAcquire(key)).toBeUndefined();
    await lock.extend(20_000);
    expect(await lock.release()).toBe(true);
    for (const key of keys) expect(await locks.inspect(key)).toBeUndefined();
  });

  it('gives keys of different slots one fencing token, which the next of each exceeds', async () => {
    const keys = ['left:1', 'right:1', 'top:1', 'down:1'];
    const all = await locks.withLock(keys, async (lock) => lock.fencingToken);
    for (const key of keys) {
      expect(await locks.withLock(key, async (lock) => lock.fencingToken)).toBeGreaterThan(all);
    }
  });

  it.each([
    [
      'ioredis',
      () => {
        const lazy = new Cluster(cluster.startupNodes, { lazyConnect: true });
        return { late: lazy, end: () => disconnect(lazy) };
      },
    ],
    ['node-redis', () => ({ late: createCluster(cluster.nodeRedis), end: () => {} })],
  ])('lists what others hold before it has connected, with %s', async (_, open) => {
    const held = await locks.acquire('listed:1');
    const { late, end } = open();
    const other = new LockService(new RedisLockStore(late));
    const { locks: found } = await other.list({ match: 'listed:*' });
    expect(found).toEqual([expect.objectContaining({ key: 'listed:1' })]);
    await other.close();
    end();
    await held.release();
  });

  it('counts right for crossing requests of several keys', async () => {
    let inside = 0;
    let count = 0;
    const work = async () => {
      expect((inside += 1)).toBe(1);
      await new Promise(setImmediate);
      inside -= 1;
      count += 1;
    };
    const options = { retryDelay: 10, retryJitter: 10 };
    const crossing = [
      ['x', 'y', 'z'],
      ['z', 'y'],
      ['y', 'x'],
    ].flatMap((keys) => Array.from({ length: 5 }, () => locks.withLock(keys, options, work)));
    await Promise.all(crossing);
    expect(count).toBe(15);
  });

  it('goes on when a slot has moved to another node', async () => {
    const key = 'lock:moving';
    const slot = clusterSlot(key);
    const lease = (await new RedisLockStore(client).tryAcquire(aRequest('moving')))!;
    expect(await lease.release()).toBe(true);

    const ids = await Promise.all(cluster.nodes.map((node) => node.command('CLUSTER', 'MYID')));
    const owner = cluster.nodes.findIndex((_, index) => slot < (index + 1) * Math.ceil(16_384 / 3));
    const target = (owner + 1) % 3;
    await cluster.nodes[owner]!.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(ids[target])); // prettier-ignore
    await cluster.nodes[target]!.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(ids[owner])); // prettier-ignore
    for (const moved of await keysIn(slot)) await migrate(moved);
    for (const index of [target, owner]) {
      await cluster.nodes[index]!.command('CLUSTER', 'SETSLOT', slot, 'NODE', String(ids[target]));
    }
    expect(await locks.withLock('moving', async (lock) => lock.fencingToken)).toBeGreaterThan(
      lease.fencingToken!,
    );

    function keysIn(of: number): Promise<string[]> {
      return cluster.nodes[owner]!.command('CLUSTER', 'GETKEYSINSLOT', of, 100) as Promise<
        string[]
      >;
    }

    async function migrate(moved: string): Promise<void> {
      const { port } = cluster.nodes[target]!;
      await cluster.nodes[owner]!.command('MIGRATE', '127.0.0.1', port, moved, 0, 5_000);
    }
  });
});

describe('RedisLockStore on one server', () => {
  it('takes many keys in one step, all or none', async () => {
    await using cluster = await RedisCluster.start(1);
    await using client = new OwnClient(cluster.nodes[0]!.url);
    const store = new RedisLockStore(client.redis);
    const keys = ['a', 'b', 'c'].map((name) => `{same}:${name}`);
    const held = (await store.tryAcquire(aRequest(keys[1]!)))!;
    expect(await store.tryAcquire(aRequest(keys))).toBeUndefined();
    expect(await client.redis.exists(`lock:${keys[0]}`)).toBe(0);
    await held.release();
    const all = (await store.tryAcquire(aRequest(keys)))!;
    expect(await all.release()).toBe(true);
    const left = await client.redis.keys('*');
    expect(left.filter((key) => !key.startsWith('{same}:fence:lock:'))).toEqual([]);
  });
});
