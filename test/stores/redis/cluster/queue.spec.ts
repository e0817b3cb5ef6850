import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { until } from '../../../support/until.js';
import { CLUSTER_CLIENTS, type ProcessClient, waitersOf } from './cluster-clients.js';

describe.each(CLUSTER_CLIENTS)('Waiting in line on a Cluster with %s', (_, open) => {
  let cluster: RedisCluster;
  let clients: ProcessClient[];
  let processes: LockService[];

  beforeAll(async () => {
    cluster = await RedisCluster.shared();
  });

  beforeEach(() => {
    clients = [1, 2, 3].map(() => open(cluster));
    processes = clients.map(({ client }) => new LockService(new RedisLockStore(client)));
  });

  afterEach(async () => {
    await Promise.all(processes.map((locks) => locks.close()));
    for (const { end } of clients) end();
  });

  afterAll(() => cluster.stop());

  it('hands keys of any slot over', async () => {
    const [holding, waiting] = processes as [LockService, LockService];
    const keys = Array.from({ length: 12 }, (_each, index) => `order:${index}`);
    const held = await Promise.all(keys.map((key) => holding.acquire(key)));
    const next = keys.map((key) => waiting.acquire(key));
    await until(async () => (await queues()).length === keys.length);
    await Promise.all(held.map((lock) => lock.release()));
    for (const [index, lock] of (await Promise.all(next)).entries()) {
      expect(lock.fencingToken).toBeGreaterThan(held[index]!.fencingToken);
      await lock.release();
    }
    expect(await queues()).toEqual([]);
  });

  it('is not held up by a process that died in front', async () => {
    const [holding, dying, waiting] = processes as [LockService, LockService, LockService];
    const holder = await holding.acquire('dead');
    const lost = expect(dying.acquire('dead')).rejects.toThrow();
    await until(async () => (await queues()).length === 1);
    const next = waiting.acquire('dead');
    await until(async () => (await waitersOf(cluster, 'dead')) === 2);
    clients[1]!.end();
    await holder.release();
    await (await next).release();
    await dying.close();
    await lost;
  });

  async function queues(): Promise<string[]> {
    const found = cluster.nodes.map((node) => node.command('KEYS', '*:line'));
    return (await Promise.all(found)).flat() as string[];
  }
});
