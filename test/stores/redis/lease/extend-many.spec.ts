import { type Lease, RedisLockStore } from 'nest-holdfast';
import { Cluster } from 'ioredis';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { CommandLog } from '../../support/command-log.js';
import { OwnClient, aRequest } from '../locks.js';

const COUNT = 250;

describe('RedisLockStore.extendMany', () => {
  let server: RedisServer;
  let client: OwnClient;
  let store: RedisLockStore;
  let leases: Lease[];

  beforeEach(async () => {
    server = await RedisServer.shared();
    client = new OwnClient(server.url);
    store = new RedisLockStore(client.redis);
    leases = [];
    for (let index = 0; index < COUNT; index++)
      leases.push((await store.tryAcquire(aRequest(`order:${index}`)))!);
    await store.extendMany!(leases.slice(0, 1), 30_000); // the server knows the script
  });

  afterEach(async () => {
    await store.close();
    await client[Symbol.asyncDispose]();
    await server.stop();
  });

  const ttl = async (index: number) => Number(await server.command('PTTL', `lock:order:${index}`));

  it('takes one command for a hundred leases', async () => {
    await using log = await CommandLog.of(client.redis, server.url);
    expect(await store.extendMany!(leases, 60_000)).toEqual(new Map());
    expect(await log.commands()).toEqual(['evalsha', 'evalsha', 'evalsha']);
    for (const index of [0, 99, 100, 249]) expect(await ttl(index)).toBeGreaterThan(30_000);
  });

  it('tells which were lost, and which keys are no locks any more', async () => {
    await server.command('SET', 'lock:order:7', 'foreign', 'PX', 50_000);
    await server.command('DEL', 'lock:order:8', 'lock:order:120');
    await server.command('LPUSH', 'lock:order:120', 'no lock');
    const exceptions = await store.extendMany!(leases, 60_000);
    expect([...exceptions.keys()]).toEqual([leases[7], leases[8], leases[120]]);
    const [foreign, gone, list] = exceptions.values();
    expect([foreign, gone]).toEqual([false, false]);
    expect(list).toMatchObject({ message: expect.stringContaining('WRONGTYPE') });
    expect(await ttl(7)).toBeLessThanOrEqual(50_000);
    for (const index of [6, 9, 119, 121]) expect(await ttl(index)).toBeGreaterThan(30_000);
  });

  it('says of each why, where the server refuses', async () => {
    client.redis.disconnect();
    const exceptions = await store.extendMany!(leases, 60_000);
    expect([...exceptions.keys()]).toEqual(leases);
    for (const error of exceptions.values()) expect(error).toBeInstanceOf(Error);
  });

  it('works on clients that make strings of numbers, and add a prefix', async () => {
    await using other = new OwnClient(server.url, { stringNumbers: true, keyPrefix: 'app:' });
    const prefixed = new RedisLockStore(other.redis);
    const own = [
      await prefixed.tryAcquire(aRequest('a')),
      await prefixed.tryAcquire(aRequest('b')),
    ] as Lease[];
    await server.command('DEL', 'app:lock:b');
    expect(await prefixed.extendMany!(own, 60_000)).toEqual(new Map([[own[1]!, false]]));
    expect(await server.command('PTTL', 'app:lock:a')).toBeGreaterThan(30_000);
    await prefixed.close();
  });

  it('asks for each alone when the server forbids one key, and no more', async () => {
    await server.command(
      ...(['ACL', 'SETUSER', 'locks', 'on', '>pw', '~lock:order:*', '~{lock:order:*'] as const),
      ...(['~lock:secret', '~{lock:secret*', '~{lock:mark:*', '&holdfast:*', '+@all'] as const),
    );
    await using other = new OwnClient(server.url, { username: 'locks', password: 'pw' });
    const limited = new RedisLockStore(other.redis);
    await Promise.all(leases.map((lease) => lease.release()));
    const keys = ['order:0', 'secret', 'order:1'];
    const own = (await Promise.all(
      keys.map((key) => limited.tryAcquire(aRequest(key))),
    )) as Lease[];
    await server.command('ACL', 'SETUSER', 'locks', 'resetkeys', '~lock:order:*', '~{lock:order:*');
    const exceptions = await limited.extendMany!(own, 60_000);
    expect([...exceptions.keys()]).toEqual([own[1]]);
    expect([...exceptions.values()]).toEqual([
      expect.objectContaining({ message: expect.stringContaining('NOPERM') }),
    ]);
    expect(await ttl(0)).toBeGreaterThan(30_000);
    await server.command('ACL', 'DELUSER', 'locks');
    await limited.close();
  });
});

it('RedisLockStore has no extendMany on a Cluster, where one node may hang and a slot may move', async () => {
  const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true });
  const store = new RedisLockStore(cluster);
  expect(store.extendMany).toBeUndefined();
  await store.close();
  cluster.disconnect();
});
