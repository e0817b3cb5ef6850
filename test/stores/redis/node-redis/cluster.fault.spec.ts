import { inspect } from 'node:util';
import { LockService, RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast';
import { createCluster } from 'redis';
import { createCluster as createCluster6 } from 'redis6';
import { clusterSlot } from '../../../../lib/redis-client/cluster-slot.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { freePort } from '../../../support/processes/free-port.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { until } from '../../../support/until.js';
import { waitersOf } from '../cluster/cluster-clients.js';

jest.setTimeout(240_000);

const WITHIN = { within: 60_000, every: 20 };
/** Longer than a failover takes. */
const TTL = 60_000;

type Options = Parameters<typeof createCluster>[0];

/** One process. Its client has no listener of errors: one that reached it would end the process. */
class Process implements AsyncDisposable {
  readonly events: string[] = [];
  readonly locks: LockService;

  constructor(
    client: ConstructorParameters<typeof RedisLockStore>[0],
    options: RedisLockStoreOptions = {},
  ) {
    const store = new RedisLockStore(client, { silenceTimeout: 1_000, ...options });
    this.locks = new LockService(store, { ttl: TTL, waitTimeout: 200_000, storeTimeout: 60_000 });
    for (const event of ['jeopardy', 'recovered', 'lost'] as const)
      this.locks.events.on(event, () => void this.events.push(event));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.locks.close();
  }
}

describe.each([
  ['5', createCluster],
  ['6', createCluster6 as unknown as typeof createCluster],
])('On a Cluster with node-redis %s,', (_, create) => {
  const open = (options: Options) => create(options);

  it('a master that hangs is left for the replica that is promoted', async () => {
    await using cluster = await RedisCluster.start(3, 1);
    const start = () => new Process(open(cluster.nodeRedis), { replicas: 1 });
    await using holding = start();
    await using waiting = start();
    const lock = await holding.locks.acquire('order:42');
    const next = waiting.locks.acquire('order:42');
    await until(async () => (await waitersOf(cluster, 'order:42')) === 1, WITHIN);
    const [master, replica] = await cluster.serving(clusterSlot('lock:order:42'));
    master!.pause();
    const role = async () => String(((await replica!.command('ROLE')) as unknown[])[0]);
    await until(async () => (await role()) === 'master', WITHIN);
    await until(() => holding.events.includes('jeopardy'), WITHIN);
    master!.resume(); // it follows the new one, and acknowledges the lock there
    await until(() => holding.events.includes('recovered'), WITHIN);
    expect(lock.isHeld).toBe(true);
    expect(await lock.release()).toBe(true);
    expect((await next).fencingToken).toBeGreaterThan(lock.fencingToken);
    expect(holding.events).not.toContain('lost');
  });

  describe('behind connections that fail,', () => {
    let cluster: RedisCluster;
    let proxies: TcpProxy[];

    beforeEach(async () => {
      cluster = await RedisCluster.start(3);
      proxies = await Promise.all(cluster.nodes.map(({ port }) => TcpProxy.start(port)));
    });

    afterEach(async () => {
      await Promise.all(proxies.map((proxy) => proxy.stop()));
      await cluster.stop();
    });

    /** The nodes name themselves: the client knows where they are reached. */
    function throughProxies(): Process {
      const host = '127.0.0.1';
      const ports = new Map(cluster.nodes.map(({ port }, index) => [`${host}:${port}`, proxies[index]!.port])); // prettier-ignore
      const nodeAddressMap = (name: string) => ({ host, port: ports.get(name)! });
      const rootNodes = proxies.map(({ port }) => ({ socket: { host, port } }));
      return new Process(open({ rootNodes, nodeAddressMap }));
    }

    const isTaken = async (key: string) => {
      const [master] = await cluster.serving(clusterSlot(`lock:${key}`));
      return (await master!.command('EXISTS', `lock:${key}`)) === 1;
    };

    it('an acquire whose reply was lost is sent again, finds its own token and has won', async () => {
      await using own = throughProxies();
      await own.locks.withLock('order:42', async () => {});
      for (const proxy of proxies) proxy.replies.drop();
      const acquiring = own.locks.acquire('order:42');
      await until(() => isTaken('order:42'), WITHIN);
      for (const proxy of proxies) {
        proxy.pass();
        proxy.cutAll();
      }
      expect(await (await acquiring).release()).toBe(true);
      for (const node of cluster.nodes) await nothingLeft(node);
    });

    it('nodes that answer nothing are given up, and what was not answered is sent on the next connection', async () => {
      await using own = throughProxies();
      await own.locks.withLock('order:42', async () => {});
      const accepted = () => proxies.reduce((sum, proxy) => sum + proxy.accepted, 0);
      const before = accepted();
      for (const proxy of proxies) proxy.replies.drop();
      const acquiring = own.locks.acquire('order:42');
      await until(() => accepted() > before, WITHIN);
      for (const proxy of proxies) proxy.pass();
      expect(await (await acquiring).release()).toBe(true);
    });

    it('one that waits gets its lock after its subscription was cut off', async () => {
      await using own = throughProxies();
      await using rival = new Process(open(cluster.nodeRedis));
      const held = await rival.locks.acquire('order:42');
      const next = own.locks.acquire('order:42');
      await until(async () => (await waitersOf(cluster, 'order:42')) === 1, WITHIN);
      for (const proxy of proxies) proxy.cutAll();
      await held.release();
      expect(await (await next).release()).toBe(true);
    });
  });

  it('without a node, the error says why, without the password, and closing ends all attempts', async () => {
    const url = `redis://locks:secret@127.0.0.1:${await freePort()}`;
    const client = open({ rootNodes: [{ url }], defaults: { password: 'secret' } });
    const own = new Process(client);
    const error = await own.locks.tryAcquire('order:42').catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('secret');
    await own.locks.close();
    await until(() => client.listenerCount('disconnect') === 0, WITHIN);
  });
});
