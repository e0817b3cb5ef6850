import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedisCluster } from '../../support/servers/redis-cluster.js';
import { RedisSentinel } from '../../support/servers/redis-sentinel.js';
import { RedisServer } from '../../support/servers/redis-server.js';

const PAGE = readFileSync(join(__dirname, '../../../docs/stores/redis.md'), 'utf8');
/** As they stand in the docs: the server's, a Cluster's, that of the Sentinels. */
const [SERVER, CLUSTER, SENTINEL] = [...PAGE.matchAll(/^ACL SETUSER (.+)$/gm)].map(([, line]) =>
  line!.split(' '),
) as [string[], string[], string[]];
const USER = { username: 'locks', password: 'password' };

const permit = (server: RedisServer, rule: readonly string[]) =>
  server.command('ACL', 'SETUSER', ...rule);

/** Everything that locks can do, by two processes. Resolves with what went wrong without rejecting anything. */
async function everything(connect: () => Redis | Cluster, replicas = 0): Promise<void> {
  const clients = [connect(), connect()];
  const troubles: unknown[] = [];
  for (const client of clients) client.on('error', (error: unknown) => troubles.push(error));
  const [a, b] = clients.map((client) => new LockService(new RedisLockStore(client, { replicas }))) as [LockService, LockService]; // prettier-ignore
  for (const each of [a, b]) each.events.on('jeopardy', ({ error }) => troubles.push(error));
  for (const each of [a, b]) each.events.on('releaseFailed', ({ error }) => troubles.push(error));
  for (const key of ['order:1', '{order}:2', 'order:}{3', 'fence', 'order:{4']) {
    const held = await a.acquire(key);
    await held.extend(20_000);
    expect(await b.tryAcquire(key)).toBeUndefined();
    expect(await b.inspect(key)).toBeDefined();
    const next = b.acquire(key);
    await b.inspect(key);
    await held.release();
    await (await next).release();
  }
  await a.withLock(['order:1', 'order:2'], () => {});
  const listed = new RedisLockStore(clients[1]!, { replicas }).list!({ match: 'o*', limit: 10 });
  expect(await listed).toEqual({ locks: [] });
  const readers = await Promise.all([a, b].map((each) => each.acquire('page', { mode: 'read' })));
  const writer = a.acquire('page');
  await Promise.all(readers.map((each) => each.release()));
  const written = await writer;
  await written.downgrade();
  await (await b.acquire('page', { mode: 'read' })).release();
  await written.release();
  const permits = await Promise.all([a, b].map((each) => each.acquire('export', { permits: 2 })));
  const third = a.acquire('export', { permits: 2 });
  await permits[0]!.extend(20_000);
  await Promise.all(permits.map((each) => each.release()));
  await (await third).release();
  await Promise.all([a.close(), b.close()]);
  for (const client of clients) client.disconnect();
  expect(troubles).toEqual([]);
}

/** No denial: the server writes down what it has refused to the user. */
async function expectNoDenial(...servers: readonly RedisServer[]): Promise<void> {
  for (const server of servers) expect(await server.command('ACL', 'LOG')).toEqual([]);
}

describe('the ACL of the docs', () => {
  it('is narrow', () => {
    for (const rule of [SERVER, CLUSTER, SENTINEL]) {
      expect(rule.slice(0, 3)).toEqual(['locks', 'on', '>password']);
      expect(rule.filter((word) => /^(~\*|allkeys|~\{\*|\+@.*|&\*|allchannels)$/.test(word))).toEqual([]); // prettier-ignore
    }
  });

  it.each([0, 1])('is enough for one server, with %i replicas', async (replicas) => {
    await using sentinel = await RedisSentinel.start({ replicas, sentinels: 1 });
    const { master } = sentinel;
    await permit(master, SERVER);
    await everything(() => new Redis({ port: master.port, ...USER }), replicas);
    await expectNoDenial(master);
  });

  it('keeps the user from everything else', async () => {
    await using server = await RedisServer.start();
    await permit(server, SERVER);
    const client = new Redis({ port: server.port, ...USER });
    const refused = async (...[name, ...args]: [string, ...string[]]) =>
      expect(client.call(name, ...args)).rejects.toThrow('NOPERM');
    await refused('GET', 'session:1');
    await refused('SET', '{session:1', 'x');
    await refused('SET', '{session:1}:fence', 'x');
    await refused('KEYS', '*');
    await refused('FLUSHALL');
    await refused('CONFIG', 'GET', '*');
    await refused('PUBLISH', 'orders', 'x');
    client.disconnect();
  });

  it('is enough for Sentinel', async () => {
    await using sentinel = await RedisSentinel.start({ replicas: 1, sentinels: 1 });
    await Promise.all(sentinel.servers.map((server) => permit(server, SERVER)));
    const { sentinels, name } = sentinel.client;
    const admin = new Redis({ ...sentinels[0]!, lazyConnect: true });
    await admin.call('ACL', 'SETUSER', ...SENTINEL);
    const options = { sentinels, name, ...USER, sentinelUsername: 'locks', sentinelPassword: 'password' }; // prettier-ignore
    await everything(() => new Redis({ ...options, failoverDetector: true }), 1);
    expect(await admin.call('ACL', 'LOG')).toEqual([]);
    admin.disconnect();
    await expectNoDenial(...sentinel.servers);
  });

  it('is enough for a Cluster', async () => {
    await using cluster = await RedisCluster.start(3, 0);
    await Promise.all(cluster.nodes.map((node) => permit(node, CLUSTER)));
    await everything(() => new Cluster(cluster.startupNodes, { redisOptions: USER }));
    await expectNoDenial(...cluster.nodes);
  });
});
