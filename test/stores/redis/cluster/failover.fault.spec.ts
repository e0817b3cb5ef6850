import { LockService, RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast';
import { clusterSlot } from '../../../../lib/redis-client/cluster-slot.js';
import { CLUSTER_CLIENTS, waitersOf } from './cluster-clients.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { until } from '../../../support/until.js';
import { aborted, inTime } from '../../../support/faults/in-time.js';

/** Each has a cluster of its own. */
const TESTS = 3;
/** Longer than a failover takes. */
const TTL = 20_000;
const PATIENCE = { within: 30_000 };

describe.each(CLUSTER_CLIENTS)('A failover in a Cluster, with %s,', (_, open) => {
  let cluster: RedisCluster;
  let clusters: RedisCluster[] = [];
  let closing: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    // To form one takes seconds, in which the machine has little to do.
    clusters = await Promise.all(Array.from({ length: TESTS }, () => RedisCluster.start(3, 1)));
  });

  beforeEach(() => {
    cluster = clusters.pop()!;
  });

  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await cluster.stop();
  });

  afterAll(() => Promise.all(clusters.map((unused) => unused.stop())));

  /** One process of an application. */
  function start(options: RedisLockStoreOptions = {}, defaults = {}) {
    const { client, end } = open(cluster);
    const store = new RedisLockStore(client, { replicaTimeout: 500, ...options });
    const locks = new LockService(store, { ttl: TTL, waitTimeout: 60_000, ...defaults });
    const events: string[] = [];
    locks.events.on('jeopardy', ({ key, error }) =>
      events.push(`jeopardy ${key}: ${String(error)}`),
    );
    locks.events.on('recovered', ({ key }) => events.push(`recovered ${key}`));
    locks.events.on('lost', ({ key, error }) => events.push(`lost ${key}: ${error.reason}`));
    closing.push(async () => {
      await locks.close();
      end();
    });
    return { locks, events };
  }

  /** Crashes the master of the key. Returns how to wait until another one serves it, and how to let the old one follow that. */
  async function crash(key: string) {
    const slot = clusterSlot(`lock:${key}`);
    const [master] = await cluster.serving(slot);
    const id = String(await master!.command('CLUSTER', 'MYID'));
    await master!.kill();
    const promoted = () => cluster.promoted(slot, master!);
    return { promoted, rejoin: () => cluster.rejoin(master!, id, slot) };
  }

  it('puts held locks in jeopardy, finds them again where a replica had them, and serves those who wait', async () => {
    const [holding, waiting] = [start({ replicas: 1 }), start({ replicas: 1 })];
    const lock = await holding.locks.acquire('order:42');
    const next = waiting.locks.acquire('order:42');
    await until(async () => (await waitersOf(cluster, 'order:42')) === 1);
    const { promoted, rejoin } = await crash('order:42');
    await until(() => holding.events.length > 0);
    expect(holding.events[0]).toMatch(/^jeopardy order:42: .*connection to 127.0.0.1:\d+ was lost/);
    await promoted();
    await until(() => holding.events.join().includes('0 of 1 replicas acknowledged'), PATIENCE);
    expect(lock.state).toBe('jeopardy');
    await rejoin();
    await until(() => holding.events.at(-1) === 'recovered order:42', PATIENCE);
    expect(holding.events.join()).toMatch(/master of \d+ slots is another one/);
    expect(lock.state).toBe('held');
    expect(await lock.release()).toBe(true);
    expect((await next).fencingToken).toBeGreaterThan(lock.fencingToken);
  });

  it('ends a held lock that the promoted replica never heard of, and leaves the others alone', async () => {
    const { locks, events } = start();
    const elsewhere = ['order:1', 'order:2', 'order:3'].find((key) => isFar(key, 'order:42'))!;
    await locks.acquire(elsewhere);
    const replica = await cluster.deafen(clusterSlot('lock:order:42'));
    const lock = await locks.acquire('order:42');
    const { promoted } = await crash('order:42');
    replica.resume();
    await inTime(15_000, aborted(lock.signal)); // the ttl is longer
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
    await promoted();
    expect(await start().locks.tryAcquire('order:42')).toBeDefined();
    expect(events.filter((event) => event.includes(`${elsewhere}:`))).toEqual([]);
  });

  it('lets a release end in time, and its key be free after the ttl at the latest', async () => {
    const ttl = 4_000;
    const { locks } = start({}, { ttl, storeTimeout: 300 });
    const others = start();
    const lock = await locks.acquire('order:42');
    expect(await others.locks.tryAcquire('order:42')).toBeUndefined();
    const { promoted } = await crash('order:42');
    expect(await inTime(600, lock.release())).toBe(false);
    await promoted();
    const next = await inTime(ttl + 2_000, others.locks.acquire('order:42'));
    expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
  });
});

/** Whether the two locks have different masters of three. */
function isFar(one: string, other: string): boolean {
  const share = (key: string) => Math.floor(clusterSlot(`lock:${key}`) / 5_462);
  return share(one) !== share(other);
}
