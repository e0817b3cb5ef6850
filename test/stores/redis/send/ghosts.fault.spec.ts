import { randomUUID } from 'node:crypto';
import { Cluster, type RedisOptions } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { clusterSlot } from '../../../../lib/redis-client/cluster-slot.js';
import { rejectionOf } from '../../../core/support/outcome.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { disconnect } from '../locks.js';
import { CLIENTS, AppInstance } from '../../support/app-instance.js';

jest.setTimeout(180_000);

/** Much longer than it may take until a lock without a holder is free. */
const TTL = 120_000;
const WITHIN = { within: 60_000, every: 50 };
const SETTINGS: readonly RedisOptions[] = [
  { commandTimeout: 300, enableOfflineQueue: false },
  { commandTimeout: 300 },
  { enableOfflineQueue: false, maxRetriesPerRequest: 0 },
];

describe.each(
  CLIENTS.flatMap(([name, Client]) =>
    SETTINGS.map((client) => [name, JSON.stringify(client), Client, client] as const),
  ),
)('An attempt that failed with %s and %s', (_name, _what, Client, client) => {
  it.each([{}, { mode: 'read' }] as const)(
    'holds nothing that ioredis sends later %j',
    async (options) => {
      await using server = await RedisServer.start();
      await using proxy = await TcpProxy.start(server.port);
      await using own = new AppInstance(proxy.url, { Client, client, ttl: TTL, waitTimeout: 0 });
      await until(() => own.redis.status === 'ready');
      await own.locks.withLock('warm-up', options, async () => {});
      proxy.requests.drop();
      const attempt = rejectionOf(
        own.locks.acquire('order:42', { ...options, storeTimeout: 2_000 }),
      );
      await until(() => proxy.requests.bytes > 0);
      proxy.refuse();
      proxy.cutAll(); // before the attempt is given up: its release cannot be sent either
      expect(await attempt).toMatchObject({ code: 'LOCK_STORE_FAILED' });
      await until(() => own.redis.status !== 'ready');
      proxy.pass();
      await proxy.accept();
      await until(() => own.redis.status === 'ready');
      const exists = async () => Number(await server.command('EXISTS', 'lock:order:42')) === 1;
      await until(async () => !(await exists()), WITHIN);
      await own.locks.withLock('order:42', { ...options, waitTimeout: 20_000 }, async () => {});
      await until(async () => !(await exists()), WITHIN);
    },
  );
});

describe.each(CLIENTS)('A release that fails, with %s,', (_, Client) => {
  it.each([{}, { mode: 'read' }] as const)('is repeated until it is done %j', async (options) => {
    await using server = await RedisServer.start();
    await using proxy = await TcpProxy.start(server.port);
    const client = { commandTimeout: 300, enableOfflineQueue: false };
    await using own = new AppInstance(proxy.url, { Client, client, ttl: TTL });
    await until(() => own.redis.status === 'ready');
    const lock = await own.locks.acquire('order:42', options);
    proxy.refuse();
    proxy.cutAll();
    await until(() => own.redis.status !== 'ready');
    expect(await lock.release()).toBe(false);
    await proxy.accept();
    await until(async () => (await server.command('EXISTS', 'lock:order:42')) === 0, WITHIN);
  });
});

describe.each([
  ['6', Cluster],
  ['5', Cluster5 as unknown as typeof Cluster],
])('Attempts at a master of a Cluster that hung, with ioredis %s,', (_, Client) => {
  it('hold nothing at the next one', async () => {
    await using cluster = await RedisCluster.start(3, 1);
    const open = () => {
      const client = new Client(cluster.startupNodes, { redisOptions: { commandTimeout: 1_000 } });
      client.on('error', () => {});
      const locks = new LockService(new RedisLockStore(client), { ttl: TTL, waitTimeout: 0 });
      const close = async () => {
        await locks.close();
        disconnect(client);
      };
      return { locks, close };
    };
    const [own, others] = [open(), open()];
    for (const { locks } of [own, others]) await locks.withLock('{order}warm-up', async () => {});
    const [hung] = await cluster.serving(clusterSlot('{order}'));
    hung!.pause();
    const keys = Array.from({ length: 20 }, () => `{order}${randomUUID()}`);
    await Promise.all(keys.map((key) => rejectionOf(own.locks.acquire(key))));
    const back = () => others.locks.withLock(`{order}${randomUUID()}`, async () => true);
    await until(back, { ...WITHIN, what: 'another master' });
    await until(() => own.locks.withLock(`{order}${randomUUID()}`, async () => true), WITHIN);
    hung!.resume();
    for (const key of keys)
      await until(() => others.locks.withLock(key, async () => true), { ...WITHIN, what: key });
    await Promise.all([own.close(), others.close()]);
  });
});
