import { Cluster } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { SentAgain } from '../../../../lib/stores/redis/failover/sent-again.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { RedisLocks, disconnect } from '../locks.js';

/** The events of the end of a lock. */
function eventsOf({ events }: LockService): string[] {
  const said: string[] = [];
  events.on('lost', () => said.push('lost'));
  events.on('released', () => said.push('released'));
  events.on('releaseFailed', ({ error }) => said.push(`failed: ${(error as Error).message}`));
  return said;
}

const UNKNOWN = expect.stringMatching(/^failed: the connection was lost meanwhile/);

describe('A release that is sent again after a reconnect, and finds nothing,', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let own: RedisLocks;
  let said: string[];

  beforeEach(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.start(server.port);
    own = new RedisLocks(proxy.url, { ttl: 30_000 });
    said = eventsOf(own.locks);
    await own.locks.withLock('warm-up', () => {});
    said.splice(0);
  });

  afterEach(async () => {
    await own[Symbol.asyncDispose]();
    await proxy.stop();
    await server.stop();
  });

  const isFree = async () => (await server.command('EXISTS', 'lock:a')) === 0;

  it('was made, where the server is the same as before', async () => {
    const lock = await own.locks.acquire('a');
    proxy.replies.drop();
    const released = lock.release();
    await until(isFree);
    proxy.pass();
    proxy.cutAll();
    expect(await released).toBe(true);
    expect(said).toEqual(['released']);
  });

  it('is neither made nor a loss, where the server was started again', async () => {
    const lock = await own.locks.acquire('a');
    proxy.replies.drop();
    const released = lock.release();
    await until(isFree);
    await server.restart();
    proxy.pass();
    proxy.cutAll();
    expect(await released).toBe(false);
    expect(said).toEqual(['released', UNKNOWN]);
  });

  it('is a loss, where no connection was lost: another client has deleted the key', async () => {
    const lock = await own.locks.acquire('a');
    await server.command('DEL', 'lock:a');
    expect(await lock.release()).toBe(false);
    expect(said).toEqual(['lost']);
  });

  it('is a loss, where the connection was lost before it was sent', async () => {
    const lock = await own.locks.acquire('a');
    await server.command('DEL', 'lock:a');
    const { accepted } = proxy;
    proxy.cutAll();
    await until(() => proxy.accepted > accepted && own.redis.status === 'ready');
    expect(await lock.release()).toBe(false);
    expect(said).toEqual(['lost']);
  });
});

describe('On a Cluster, a release that is sent again and finds nothing', () => {
  it('is neither made nor a loss', async () => {
    const cluster = await RedisCluster.shared();
    const redis = new Cluster(cluster.startupNodes, { clusterRetryStrategy: () => 20 });
    redis.on('error', () => {});
    const locks = new LockService(new RedisLockStore(redis), { ttl: 30_000 });
    const said = eventsOf(locks);
    const lock = await locks.acquire('a');
    await redis.del('lock:a');
    const released = lock.release();
    await new Promise((resolve) => process.nextTick(resolve)); // it has been sent
    for (const node of redis.nodes('all')) node.stream?.destroy();
    expect(await released).toBe(false);
    expect(said).toEqual(['released', UNKNOWN]);
    await locks.close();
    disconnect(redis);
    await cluster.stop();
  });
});

describe('Whether a release was made', () => {
  const nothing = () => Promise.resolve(false);
  const readRunId = async () => 'one';

  async function decided(isValid?: () => boolean, runId: string | undefined = 'one') {
    const connected = { losses: 0, runId };
    const asked = new SentAgain({ connected, readRunId }).decided(nothing(), isValid);
    connected.losses++;
    return asked;
  }

  it('is known while its ttl cannot have passed', async () => {
    expect(await decided(() => true)).toBe(true);
    await expect(decided(() => false)).rejects.toThrow('it is unknown');
  });

  it('is not known of another server', async () => {
    await expect(decided(() => true, 'two')).rejects.toThrow('it is unknown');
    const connected = { losses: 0, runId: undefined };
    const seen = { connected, readRunId: async () => undefined };
    const asked = new SentAgain(seen).decided(nothing(), () => true);
    connected.losses++;
    await expect(asked).rejects.toThrow('it is unknown');
  });

  it('is as the server says, for a caller that does not care', async () => {
    expect(await decided()).toBe(false);
  });
});
