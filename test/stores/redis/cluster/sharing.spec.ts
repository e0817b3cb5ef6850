import { Cluster } from 'ioredis';
import { type Lease, RedisLockStore } from 'nest-holdfast';
import { inTime } from '../../../support/faults/in-time.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { until } from '../../../support/until.js';
import { aRequest, disconnect } from '../locks.js';
import { aPermit, aReader } from '../sharing/sharers.js';
import { lineLength } from '../../../support/redis-line.js';

describe('Locks that several share, on a Cluster', () => {
  let cluster: RedisCluster;
  let clients: Cluster[];
  let stores: RedisLockStore[];

  beforeAll(async () => {
    cluster = await RedisCluster.start(2);
  });

  beforeEach(() => {
    clients = [1, 2, 3].map(() => new Cluster(cluster.startupNodes));
    stores = clients.map((client) => new RedisLockStore(client));
  });

  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    for (const client of clients) disconnect(client);
  });

  afterAll(() => cluster.stop());

  const standing = (key: string, count: number) =>
    until(
      async () =>
        (await lineLength((...words) => clients[0]!.call(...words), `lock:${key}`)) === count,
    );

  async function wait(store: RedisLockStore, request: ReturnType<typeof aRequest>): Promise<Lease> {
    for (;;) {
      const lease = await store.acquire!(request, new AbortController().signal);
      if (await lease.extend(30_000)) return lease; // the machine was not too slow for the claim
    }
  }

  it('are handed off and extended together with those of any other slot', async () => {
    const [one, other] = stores as [RedisLockStore, RedisLockStore];
    const keys = Array.from({ length: 12 }, (_, index) => `doc:${index}`);
    const writers = await Promise.all(keys.map((key) => one.tryAcquire(aRequest(key))));
    const reading = keys.flatMap((key) => [one, other].map((store) => wait(store, aReader(key))));
    await Promise.all(keys.map((key) => standing(key, 2)));
    await Promise.all(writers.map((lease) => lease!.release()));
    const readers = await Promise.all(reading);
    const extended = await Promise.all(readers.map((lease) => lease.extend(60_000)));
    expect(extended).toEqual(readers.map(() => true));
    expect(await one.tryAcquire(aRequest('doc:0'))).toBeUndefined();
    const released = await Promise.all(readers.map((lease) => lease.release()));
    expect(released).toEqual(readers.map(() => true));
    const left = await Promise.all(cluster.nodes.map((node) => node.command('KEYS', '*')));
    expect(left.flat().filter((key) => !String(key).endsWith(':fence'))).toEqual([]);
  });

  it('are not held up for longer than a claim by a process that died in front', async () => {
    const [holding, dying, waiting] = stores as [RedisLockStore, RedisLockStore, RedisLockStore];
    const held = (await holding.tryAcquire(aPermit(1, 'export:1')))!;
    dying.acquire!(aPermit(1, 'export:1'), new AbortController().signal).catch(() => {});
    await standing('export:1', 1);
    const next = wait(waiting, aPermit(1, 'export:1'));
    await standing('export:1', 2);
    clients[1]!.disconnect();
    expect(await held.release()).toBe(true);
    const lease = await inTime(1_500, next);
    expect(await lease.release()).toBe(true);
  });
});
