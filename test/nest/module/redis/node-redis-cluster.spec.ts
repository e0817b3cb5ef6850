import { createCluster } from 'redis';
import { createCluster as createCluster6 } from 'redis6';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { until } from '../../../support/until.js';
import { applicationOn } from './application-on.js';

const WITHIN = { within: 60_000, every: 20 };
const NAMED = { defaults: { name: 'app' } };

describe.each([
  ['5', createCluster],
  ['6', createCluster6 as unknown as typeof createCluster],
])('forRoot({ redis }) with a Cluster client of node-redis %s', (_, create) => {
  let cluster: RedisCluster;

  beforeEach(async () => {
    cluster = await RedisCluster.shared();
  });

  afterEach(() => cluster.stop());

  /** Connections to any node, with the name in the options of the client. */
  async function connections(): Promise<number> {
    const lists = await Promise.all(cluster.nodes.map((node) => node.command('CLIENT', 'LIST')));
    return lists.join('\n').split(' name=app ').length - 1;
  }

  const nobody = () => until(async () => (await connections()) === 0, WITHIN);

  it('locks with one that was never connected, and does not connect it', async () => {
    const client = create({ ...cluster.nodeRedis, ...NAMED });
    const { app, locks } = await applicationOn(client);
    const held = await locks.acquire('order:42', { ttl: 3_000 });
    const waiting = locks.acquire('order:42', { waitTimeout: 60_000 });
    await until(async () => (await connections()) >= 2, WITHIN);
    await held.release();
    expect(await (await waiting).release()).toBe(true);
    expect(client.isOpen).toBe(false);
    await app.close();
    await nobody();
    expect(client.listenerCount('disconnect')).toBe(0);
  });

  it('leaves one that is connected as it was', async () => {
    const client = await create({ ...cluster.nodeRedis, ...NAMED }).connect();
    const connected = await connections();
    const { app, locks } = await applicationOn(client);
    expect(await locks.withLock('order:42', async () => 'done')).toBe('done');
    await app.close();
    await until(async () => (await connections()) === connected, WITHIN);
    expect(await client.set('key', 'value')).toBe('OK');
    await client.close();
    await nobody();
  });

  it('closes one that a function made', async () => {
    const made: { isOpen: boolean }[] = [];
    const { app, locks } = await applicationOn(async () => {
      const client = await create({ ...cluster.nodeRedis, ...NAMED }).connect();
      made.push(client);
      return client;
    });
    expect(await locks.withLock('order:42', async () => 'done')).toBe('done');
    await app.close();
    expect(made).toEqual([expect.objectContaining({ isOpen: false })]);
    await nobody();
  });

  it('ends its connections with those of the client, and locks again once that is connected again', async () => {
    const client = await create({ ...cluster.nodeRedis, ...NAMED }).connect();
    const { app, locks } = await applicationOn(client);
    await locks.withLock('order:42', async () => {});
    client.destroy();
    await nobody();
    await expect(locks.tryAcquire('order:42')).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      cause: expect.objectContaining({ message: 'the client was closed' }),
    });
    await client.connect();
    expect(await locks.withLock('order:42', async () => 'done')).toBe('done');
    await app.close();
    client.destroy();
    await nobody();
  });
});
