import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { LockService, RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast';
import { clusterSlot } from '../../../../lib/redis-client/cluster-slot.js';
import { disconnect } from '../locks.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { RedisSentinel } from '../../../support/servers/redis-sentinel.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';

jest.setTimeout(180_000);

/** Longer than a failover takes, on a busy machine too. */
const TTL = 60_000;
const WITHIN = { within: 60_000, every: 50 };
const SETTINGS = [
  ['ioredis 6', {}],
  ['ioredis 6 and commandTimeout', { commandTimeout: 1_000 }],
  ['ioredis 5', {}],
  ['ioredis 5 and commandTimeout', { commandTimeout: 1_000 }],
] as const satisfies readonly (readonly [string, RedisOptions])[];

/** An attempt that failed may have been applied all the same. */
const newKey = () => randomUUID();

interface Client {
  status: string;
  disconnect(): void;
  on(event: 'error', listener: () => void): unknown;
}

/** One process of an application. */
function process<C extends Client>(client: C, options: RedisLockStoreOptions = {}) {
  client.on('error', () => {}); // the commands say what matters here
  const store = new RedisLockStore(client as never, options);
  const locks = new LockService(store, { ttl: TTL, waitTimeout: 0, storeTimeout: 2_000 });
  const close = async () => {
    await locks.close();
    disconnect(client);
  };
  return { client, locks, close };
}

describe('A master that hangs, and is replaced by Sentinel,', () => {
  let sentinel: RedisSentinel;

  beforeAll(async () => {
    sentinel = await RedisSentinel.start({ replicas: 1 });
  });

  afterAll(() => sentinel.stop());

  it('is left by every client, with any settings, and held locks are kept', async () => {
    const processes = SETTINGS.map(([name, settings]) => {
      const Client = name.startsWith('ioredis 5') ? (Redis5 as unknown as typeof Redis) : Redis;
      return process(new Client({ ...sentinel.client, ...settings }));
    });
    const held = await Promise.all(
      processes.map(({ locks }, index) => locks.acquire(`held:${index}`)),
    );
    const hung = sentinel.master;
    hung.pause();
    const taken = processes.map(({ locks }, index) =>
      until(() => locks.withLock(newKey(), async () => true), {
        ...WITHIN,
        what: `${SETTINGS[index]![0]} to take locks again`,
      }),
    );
    await sentinel.promoted();
    await Promise.all(taken);
    for (const lock of held) {
      expect(await until(() => lock.extend(TTL).then(() => true), WITHIN)).toBe(true);
      expect(await lock.release()).toBe(true);
    }
    await Promise.all(processes.map(({ close }) => close()));
    hung.resume();
  });
});

describe('A master of a Cluster that hangs, and is replaced by its replica,', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await RedisCluster.start(3, 1);
  });

  afterAll(() => cluster.stop());

  it('is left by every client, with any settings, and held locks are kept', async () => {
    const processes = SETTINGS.map(([name, settings]) => {
      const Client = name.startsWith('ioredis 5')
        ? (Cluster5 as unknown as typeof Cluster)
        : Cluster;
      return process(new Client(cluster.startupNodes, { redisOptions: settings }));
    });
    const held = await Promise.all(
      processes.map(({ locks }, index) => locks.acquire(`{order}:${index}`)),
    );
    const [hung] = await cluster.serving(clusterSlot('{order}'));
    const again = { waitTimeout: 120_000 }; // three signs of life without an answer end a wait
    const waiting = until(() => processes[0]!.locks.acquire('{order}:1', again), WITHIN);
    hung!.pause();
    const taken = processes.map(({ locks }, index) =>
      until(() => locks.withLock(`{order}:${newKey()}`, async () => true), {
        ...WITHIN,
        what: `${SETTINGS[index]![0]} to take locks again`,
      }),
    );
    await Promise.all(taken);
    for (const lock of held) {
      expect(await until(() => lock.extend(TTL).then(() => true), WITHIN)).toBe(true);
      expect(await lock.release()).toBe(true);
    }
    await (await waiting).release();
    await Promise.all(processes.map(({ close }) => close()));
    hung!.resume();
  });
});

describe.each(SETTINGS)('A network that swallows everything, with %s,', (name, settings) => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let closing: (() => Promise<void>)[];

  beforeEach(async () => {
    closing = [];
    server = await RedisServer.shared();
    proxy = await TcpProxy.start(server.port);
  });

  afterEach(async () => {
    proxy.pass();
    for (const close of closing) await close();
    await proxy.stop();
    await server.stop();
  });

  async function start(options: RedisLockStoreOptions = {}, client: RedisOptions = {}) {
    const Client = name.startsWith('ioredis 5') ? (Redis5 as unknown as typeof Redis) : Redis;
    const all = { ...settings, ...client, host: '127.0.0.1', port: proxy.port };
    const own = process(new Client(all), options);
    closing.push(own.close);
    await own.locks.withLock('warm-up', async () => {});
    return own;
  }

  it('costs the connection, and a new one is made until a server answers', async () => {
    const { locks } = await start({ silenceTimeout: 200 });
    const before = proxy.accepted;
    proxy.replies.drop();
    const attempt = locks.tryAcquire('order:42').catch((error: unknown) => error);
    await until(() => proxy.accepted >= before + 2); // the second one is not answered either
    await attempt;
    proxy.pass();
    const what = 'a lock to be taken again';
    await until(() => locks.withLock('order:43', async () => true), { ...WITHIN, what });
  });

  it('leaves a connection alone on which nothing is asked', async () => {
    const { locks } = await start({ silenceTimeout: 1_000 });
    const before = proxy.accepted;
    await pause(1_500); // too long for an answer
    await locks.withLock('order:42', async () => {});
    expect(proxy.accepted).toBe(before);
  });

  it('is not suspected when this process was too busy to read', async () => {
    const { locks } = await start({ silenceTimeout: 1_000 }, { commandTimeout: undefined });
    const before = proxy.accepted;
    const attempt = locks.withLock('order:42', async () => 'done');
    await new Promise(setImmediate);
    for (const since = performance.now(); performance.now() - since < 1_000;);
    expect(await attempt).toBe('done');
    expect(proxy.accepted).toBe(before);
  });

  it('costs no connection that would not come back', async () => {
    const never = { retryStrategy: undefined } as RedisOptions;
    const { locks, client } = await start({ silenceTimeout: 40 }, never);
    proxy.replies.hold();
    const attempt = locks.withLock('order:42', async () => 'done').catch(() => 'too late');
    await pause(200);
    proxy.pass();
    await attempt;
    expect(await client.ping()).toBe('PONG');
  });

  it('costs no connection where the store is told so', async () => {
    const { locks, client } = await start({ silenceTimeout: Infinity });
    const before = proxy.accepted;
    proxy.replies.hold();
    await expect(locks.tryAcquire('order:42', { storeTimeout: 200 })).rejects.toThrow();
    proxy.pass();
    await client.ping();
    expect(proxy.accepted).toBe(before);
  });
});
