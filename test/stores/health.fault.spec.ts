import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedisServer } from '../support/servers/redis-server.js';
import { TcpProxy } from '../support/processes/tcp-proxy.js';
import { until } from '../support/until.js';
import { BACKENDS } from './support/backends.js';
import type { Backend, Opened } from './support/backends.js';
import { disconnect } from './redis/locks.js';
import { RedlockNodes, RedlockProcess } from './redlock/support/nodes.js';

const PATIENT = { timeout: 10_000 };
const ofRedis = async (): Promise<Backend> => {
  const { port } = await RedisServer.shared();
  const open = (at: number) => {
    const redis = new Redis(at, '127.0.0.1', { retryStrategy: () => 20 });
    redis.on('error', () => {});
    return { store: new RedisLockStore(redis), close: () => disconnect(redis) };
  };
  return { port, open };
};

describe.each([['Redis', ofRedis] as const, ...BACKENDS])('The health of %s', (_, start) => {
  let backend: Backend;
  let proxy: TcpProxy;
  let opened: Opened;
  let locks: LockService;

  beforeAll(async () => {
    backend = await start();
    proxy = await TcpProxy.start(backend.port);
    opened = backend.open(proxy.port);
    locks = new LockService(opened.store);
  });

  afterAll(async () => {
    proxy.cutAll();
    proxy.pass();
    await locks.close();
    await proxy.stop();
    await opened.close?.();
    await backend.stop?.();
  });

  it('is up, by either probe, and leaves nothing', async () => {
    expect(await locks.health(PATIENT)).toMatchObject({ status: 'up', probe: 'read' });
    for (let times = 0; times < 2; times++)
      expect(await locks.health({ ...PATIENT, probe: 'lock' })).toMatchObject({ status: 'up' });
  });

  it.each(['read', 'lock'] as const)('is down in time while it hangs, by %s', async (probe) => {
    proxy.replies.hold();
    const health = await locks.health({ probe, timeout: 300 });
    expect(health).toMatchObject({ status: 'down', store: opened.store.name, reason: expect.any(String) }); // prettier-ignore
    expect(health.duration).toBeLessThan(3_000);
    expect(JSON.stringify(health)).not.toContain('127.0.0.1');
    proxy.pass();
    await until(async () => (await locks.health({ probe, timeout: 300 })).status === 'up');
  });
});

it('A Redis that takes no writes is down by a lock, with its word for it', async () => {
  await using server = await RedisServer.start();
  const redis = new Redis(server.url);
  const locks = new LockService(new RedisLockStore(redis));
  await server.command('REPLICAOF', '127.0.0.1', '1');
  expect(await locks.health({ ...PATIENT, probe: 'lock' })).toMatchObject({ status: 'down', reason: 'READONLY' }); // prettier-ignore
  await locks.close();
  disconnect(redis);
});

it('A Redlock is degraded without a node, and down without a majority', async () => {
  await using nodes = await RedlockNodes.start(3);
  await using own = await RedlockProcess.start(nodes);
  const healthIs = (status: string, up: number) =>
    until(async () => {
      for (const probe of ['read', 'lock'] as const) {
        const health = await own.locks.health({ ...PATIENT, probe });
        expect(health).toMatchObject({ status, nodes: { up, needed: 2, total: 3 } });
      }
      return true;
    });
  await healthIs('up', 3);
  await nodes.servers[0]!.kill();
  await healthIs('degraded', 2);
  await nodes.servers[1]!.kill();
  await until(async () => (await own.locks.health()).status === 'down');
  await nodes.servers[1]!.restart();
  await healthIs('degraded', 2);
  await nodes.servers[0]!.restart();
  await healthIs('up', 3);
});
