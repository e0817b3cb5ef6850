import { Cluster } from 'ioredis';
import { Cluster as Cluster5 } from 'ioredis5';
import { RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast/core';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { disconnect } from '../locks.js';

const CLIENTS = [
  ['6', Cluster],
  ['5', Cluster5 as unknown as typeof Cluster],
] as const;
const ACKNOWLEDGED = { replicas: 1, replicaTimeout: 5_000 };

describe('RedisLockStore on a Cluster of three masters and three replicas', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await RedisCluster.start(3, 1);
  });

  afterAll(() => cluster.stop());

  describe.each(CLIENTS)('with ioredis %s', (_, Client) => {
    conformance(() => new Client(cluster.startupNodes));
  });

  describe.each(CLIENTS)('with ioredis %s, where a replica must have a lock', (_, Client) => {
    conformance(() => new Client(cluster.startupNodes), ACKNOWLEDGED);
  });

  describe('with ioredis 6, where a replica must have a lock, and a keyPrefix of the client', () => {
    conformance(() => new Cluster(cluster.startupNodes, { keyPrefix: 'app:' }), ACKNOWLEDGED);
  });

  describe('with ioredis 6, where a replica must have a lock, and a keyPrefix of its nodes', () => {
    const options = { redisOptions: { keyPrefix: 'app:' } };
    conformance(() => new Cluster(cluster.startupNodes, options), ACKNOWLEDGED);
  });

  /** Two clients stand for two processes. */
  function conformance(open: () => Cluster, options?: RedisLockStoreOptions): void {
    const clients: Cluster[] = [];
    let opened = 0;
    beforeAll(() => void clients.push(open(), open()));
    afterAll(() => clients.forEach(disconnect));
    lockStoreConformance({
      test: it,
      lacks: ['sessions', 'globalTokens', 'manyKeys', 'extendMany'],
      createStore: () => new RedisLockStore(clients[opened++ % 2]!, options),
    });
  }
});
