import { Cluster } from 'ioredis';
import { RedisLockStore } from 'nest-holdfast';
import { clusterSlot } from '../../../../lib/redis-client/cluster-slot.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { SlotMigration } from '../../../support/servers/slot-migration.js';
import { aRequest, disconnect } from '../locks.js';

const KEYS = Array.from({ length: 30 }, (_, index) => `order:${index}`);

describe('the list of RedisLockStore on a Cluster', () => {
  let cluster: RedisCluster;
  let client: Cluster;
  let store: RedisLockStore;

  beforeEach(async () => {
    cluster = await RedisCluster.start(3, 0);
    client = new Cluster(cluster.startupNodes);
    store = new RedisLockStore(client);
    for (const key of KEYS) await store.tryAcquire(aRequest(key));
  });

  afterEach(async () => {
    disconnect(client);
    await cluster.stop();
  });

  async function listed(between: (page: number) => unknown): Promise<string[]> {
    const found = new Set<string>();
    let pages = 0;
    let cursor: string | undefined;
    do {
      const page = await store.list!({ limit: 4, cursor });
      for (const { key } of page.locks) found.add(key);
      cursor = page.cursor;
      await between(++pages);
    } while (cursor !== undefined && pages < 1_000);
    return KEYS.filter((key) => !found.has(key));
  }

  it('leaves out no lock whose slot moves meanwhile', async () => {
    for (const [at, key] of [KEYS[3]!, KEYS[11]!, KEYS[17]!, KEYS[23]!].entries()) {
      const lock = `lock:${key}`;
      const moving = await SlotMigration.start(cluster, clusterSlot(lock));
      const missing = await listed(async (page) => {
        if (page === 2 + at) for (const name of [lock, `{${lock}}:fence`]) await moving.move(name);
        if (page === 6) await moving.finish();
      });
      expect(missing).toEqual([]);
    }
  });

  it('leaves out no lock whose slot goes on moving when the list ends', async () => {
    const [one, other] = [KEYS[5]!, KEYS[8]!].map((key) => `lock:${key}`) as [string, string];
    for (const lock of [one, other]) {
      const moving = await SlotMigration.start(cluster, clusterSlot(lock));
      const missing = await listed(async (page) => {
        if (page === 3) for (const name of [lock, `{${lock}}:fence`]) await moving.move(name);
      });
      expect(missing).toEqual([]);
      await moving.finish();
    }
  });
});
