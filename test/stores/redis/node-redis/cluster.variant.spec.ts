import { RESP_TYPES, createCluster } from 'redis';
import { createCluster as createCluster6 } from 'redis6';
import { RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast/core';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { onCluster } from '../conformance-suite.js';

type Client = ConstructorParameters<typeof RedisLockStore>[0];

/** Replies that no script expects. */
const OTHER_REPLIES = {
  RESP: 3,
  commandOptions: {
    typeMapping: { [RESP_TYPES.NUMBER]: String, [RESP_TYPES.BLOB_STRING]: Buffer },
  },
} as const;

const REPLICATED = { replicas: 1, replicaTimeout: 5_000 };

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await RedisCluster.start(3, 1);
});

afterAll(() => cluster.stop());

describe.each<[string, () => Client, RedisLockStoreOptions]>([
  ['5', () => createCluster(cluster.nodeRedis), {}],
  [
    '5 that speaks RESP3, maps types and reads from replicas, in strict order',
    () => createCluster({ ...cluster.nodeRedis, ...OTHER_REPLIES, useReplicas: true }),
    { localPassLimit: 0 },
  ],
  ['6', () => createCluster6(cluster.nodeRedis), {}],
  ['6 where a replica must have a lock', () => createCluster6(cluster.nodeRedis), REPLICATED],
])('RedisLockStore on a Cluster with node-redis %s', (_, open, options) => {
  const stores: RedisLockStore[] = [];
  afterAll(() => Promise.all(stores.map((store) => store.close())));
  lockStoreConformance({
    test: Object.assign(it, { skip: it.skip }),
    ...onCluster(() => cluster),
    lacks: ['sessions', 'globalTokens', 'manyKeys', 'extendMany'],
    createStore: () => {
      const store = new RedisLockStore(open(), options);
      stores.push(store);
      return store;
    },
  });
});
