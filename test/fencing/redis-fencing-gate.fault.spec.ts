import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { RedisFencingGate } from 'nest-holdfast/fencing';
import { clusterSlot as slotOf } from '../../lib/redis-client/cluster-slot.js';
import { disconnect } from '../stores/redis/locks.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { TcpProxy } from '../support/processes/tcp-proxy.js';
import { until } from '../support/until.js';

const HOLDER = { key: 'order:42', fencingToken: 7n };
const CLIENTS = [
  ['ioredis 6', Redis, Cluster],
  ['ioredis 5', Redis5 as unknown as typeof Redis, Cluster5 as unknown as typeof Cluster],
] as const;

describe.each(CLIENTS)('A gate whose server hangs, with %s,', (_, Single, Many) => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let client: Redis;

  beforeEach(async () => {
    server = await RedisServer.shared();
    proxy = await TcpProxy.start(server.port);
    client = new Single(proxy.url, { retryStrategy: () => 20 });
    client.on('error', () => {});
  });

  afterEach(async () => {
    disconnect(client);
    await proxy.stop();
    await server.stop();
  });

  it('gives up the connection, and lets waiting calls in once a server answers', async () => {
    const gate = new RedisFencingGate(client, { silenceTimeout: 200 });
    await gate.enter(HOLDER);
    const before = proxy.accepted;
    proxy.replies.drop();
    const entered = gate.call(HOLDER, 'order:42', 'SET', 'paid');
    await until(() => proxy.accepted >= before + 2); // the second one is not answered either
    proxy.pass();
    await entered;
    expect(await server.command('GET', 'order:42')).toBe('paid');
  });

  it('keeps the connection where it is told so', async () => {
    const gate = new RedisFencingGate(client, { silenceTimeout: Infinity });
    await gate.enter(HOLDER);
    const before = proxy.accepted;
    proxy.replies.hold();
    const forgotten = gate.forget('order:42');
    await new Promise((resolve) => setTimeout(resolve, 500)); // too long for an answer
    proxy.pass();
    expect(await forgotten).toBe(true);
    expect(proxy.accepted).toBe(before);
  });

  it('of a Cluster gives up the connection to a node', async () => {
    const cluster = await RedisCluster.start(3);
    const redis = new Many(cluster.startupNodes, { clusterRetryStrategy: () => 20 });
    const gate = new RedisFencingGate(redis, { silenceTimeout: 200 });
    await gate.enter(HOLDER);
    const [hung] = await cluster.serving(slotOf(HOLDER.key));
    const given = () => redis.nodes('all').some((node) => node.status !== 'ready');
    hung!.pause();
    const entered = gate.enter(HOLDER);
    try {
      await until(given);
    } finally {
      hung!.resume();
    }
    await entered;
    disconnect(redis);
    await cluster.stop();
  });
});

it.each([0, 1.5, '3_000'])('a silenceTimeout of %p is refused', (silenceTimeout) => {
  const client = { evalsha: () => {} } as never;
  const build = () => new RedisFencingGate(client, { silenceTimeout } as never);
  expect(build).toThrow(/silenceTimeout/);
});
