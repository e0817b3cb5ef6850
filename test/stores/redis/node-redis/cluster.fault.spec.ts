import { inspect } from 'node:util';
import { LockService, RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast';
import { createCluster } from 'redis';
import { createCluster as createCluster6 } from 'redis6';
import { clusterSlot } from '../../../../lib/redis-client/cluster-slot.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { freePort } from '../../../support/processes/free-port.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { until } from '../../../support/until.js';
import { waitersOf } from '../cluster/cluster-clients.js';
import { ProxiedCluster } from '../cluster/proxied-cluster.js';

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
    let proxied: ProxiedCluster;

    beforeEach(async () => {
      proxied = await ProxiedCluster.start();
    });

    afterEach(() => proxied[Symbol.asyncDispose]());

    const throughProxies = () => new Process(open(proxied.nodeRedis));

    it('an acquire whose reply was lost is sent again, finds its own token and has won', async () => {
      await using own = throughProxies();
      await own.locks.withLock('order:42', async () => {});
      proxied.dropReplies();
      const acquiring = own.locks.acquire('order:42');
      await until(() => proxied.isTaken('order:42'), WITHIN);
      proxied.reconnect();
      expect(await (await acquiring).release()).toBe(true);
      for (const node of proxied.cluster.nodes) await nothingLeft(node);
    });

    it('nodes that answer nothing are given up, and what was not answered is sent on the next connection', async () => {
      await using own = throughProxies();
      await own.locks.withLock('order:42', async () => {});
      const { accepted } = proxied;
      proxied.dropReplies();
      const acquiring = own.locks.acquire('order:42');
      await until(() => proxied.accepted > accepted, WITHIN);
      for (const proxy of proxied.proxies) proxy.pass();
      expect(await (await acquiring).release()).toBe(true);
    });

    it('one that waits gets its lock after its subscription was cut off', async () => {
      await using own = throughProxies();
      await using rival = new Process(open(proxied.cluster.nodeRedis));
      const held = await rival.locks.acquire('order:42');
      const next = own.locks.acquire('order:42');
      await until(async () => (await waitersOf(proxied.cluster, 'order:42')) === 1, WITHIN);
      proxied.reconnect();
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
