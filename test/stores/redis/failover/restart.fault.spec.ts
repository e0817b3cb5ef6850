import { Cluster, type Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { CLIENTS } from '../../support/app-instance.js';
import { disconnect } from '../locks.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { aborted, inTime } from '../../../support/faults/in-time.js';

const LOSSES = ['close', 'ready', 'refresh', '+node', '-node'];

describe.each(CLIENTS)('A reconnect, with %s,', (_, Client) => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let redis: Redis;
  let locks: LockService;
  let events: string[];

  beforeEach(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.start(server.port);
    redis = new Client(proxy.url, { retryStrategy: () => 20 });
    redis.on('error', () => {}); // the events say what matters here
    open();
  });

  afterEach(async () => {
    await locks.close();
    disconnect(redis);
    await proxy[Symbol.asyncDispose]();
    await server.stop();
  });

  function open(store = new RedisLockStore(redis)): void {
    events = [];
    locks = new LockService(store, { ttl: 30_000 });
    locks.events.on('jeopardy', ({ error }) =>
      events.push(`jeopardy: ${(error as Error).message}`),
    );
    locks.events.on('recovered', () => events.push('recovered'));
    locks.events.on('lost', ({ error }) => events.push(`lost: ${error.reason}`));
  }

  async function cut(): Promise<void> {
    const { accepted } = proxy;
    proxy.cutAll();
    await until(() => proxy.accepted > accepted && redis.status === 'ready');
  }

  /** Resolves once the commands that follow a reconnect were answered. */
  async function settled(): Promise<void> {
    await redis.ping();
    await until(async () => String(await server.command('INFO', 'commandstats')).includes('cmdstat_time:')); // prettier-ignore
    await redis.ping();
  }

  it('to a server that was started again ends a held lock at once', async () => {
    const lock = await locks.acquire('order:42');
    await server.restart();
    await inTime(5_000, aborted(lock.signal)); // a third of the ttl is longer
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
    expect(events).toEqual([expect.stringMatching(/^jeopardy: .* started again/), 'lost: gone']);
  });

  it('to a server that was started again ends the lock of a store that was closed, and is used again', async () => {
    await locks.close();
    const store = new RedisLockStore(redis);
    open(store);
    await settled();
    await locks.close();
    open(store);
    const lock = await locks.acquire('order:42');
    await server.restart();
    await inTime(5_000, aborted(lock.signal));
    expect(events).toEqual([expect.stringMatching(/^jeopardy: .* started again/), 'lost: gone']);
  });

  it('to the same server is no reason for a doubt', async () => {
    const lock = await locks.acquire('order:42');
    await server.command('CONFIG', 'RESETSTAT');
    await cut();
    await settled();
    expect(events).toEqual([]);
    expect(lock.state).toBe('held');
  });

  it('to a server that may not say which one it is, is one each time', async () => {
    await redis.ping();
    await server.command('ACL', 'SETUSER', 'default', '-info');
    disconnect(redis);
    redis = new Client(proxy.url, { retryStrategy: () => 20, enableReadyCheck: false });
    redis.on('error', () => {});
    open();
    const lock = await locks.acquire('order:42');
    for (const times of [1, 2]) {
      await cut();
      await until(() => events.length === 2 * times);
    }
    expect(events.slice(2)).toEqual([expect.stringContaining('not known'), 'recovered']);
    expect(lock.state).toBe('held');
  });

  it('that is lost again before the server said which one it is, leaves that to the next one', async () => {
    const lock = await locks.acquire('order:42');
    await server.restart();
    for (let times = 0; times < 5; times += 1) proxy.cutAll();
    await inTime(5_000, aborted(lock.signal));
    expect(events.at(-1)).toBe('lost: gone');
  });

  it('is not waited for any more by a store that was closed', async () => {
    const before = LOSSES.map((event) => redis.listenerCount(event));
    const store = new RedisLockStore(redis);
    const other = new LockService(store);
    await other.withLock('order:1', () => undefined);
    expect(LOSSES.map((event) => redis.listenerCount(event))).not.toEqual(before);
    await other.close();
    expect(LOSSES.map((event) => redis.listenerCount(event))).toEqual(before);
  });
});

describe('A Cluster', () => {
  it('ends held locks whose master was started again, and has no listeners left after that', async () => {
    await using cluster = await RedisCluster.start(1);
    const client = new Cluster(cluster.startupNodes);
    await client.ping();
    const counts = () => [
      ...LOSSES.map((event) => client.listenerCount(event)),
      ...client.nodes().map((node) => node.listenerCount('close') + node.listenerCount('ready')),
    ];
    const before = counts();
    const locks = new LockService(new RedisLockStore(client), { ttl: 30_000 });
    const lock = await locks.acquire('order:42');
    expect(counts()).not.toEqual(before);
    await cluster.nodes[0]!.command('FLUSHALL');
    await cluster.nodes[0]!.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await inTime(5_000, aborted(lock.signal)); // a third of the ttl is longer
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
    await until(() => client.status === 'ready' && client.nodes().length === 1);
    await locks.close();
    expect(counts()).toEqual(before);
    disconnect(client);
  });
});
