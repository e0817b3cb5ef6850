import { RESP_TYPES, createSentinel } from 'redis';
import { createSentinel as createSentinel6 } from 'redis6';
import { RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast/core';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { RedisSentinel } from '../../../support/servers/redis-sentinel.js';

type Client = ConstructorParameters<typeof RedisLockStore>[0];

/** Replies that no script expects. */
const MAPPED = { [RESP_TYPES.NUMBER]: String, [RESP_TYPES.BLOB_STRING]: Buffer };

const REPLICATED = { replicas: 2, replicaTimeout: 5_000 };

let sentinel: RedisSentinel;

beforeAll(async () => {
  sentinel = await RedisSentinel.start();
});

afterAll(() => sentinel.stop());

describe.each<[string, () => Client, RedisLockStoreOptions]>([
  [
    '5 that speaks RESP3 and maps types',
    () =>
      createSentinel({ ...sentinel.nodeRedis, RESP: 3, commandOptions: { typeMapping: MAPPED } }),
    {},
  ],
  ['6 where both replicas must have a lock', () => createSentinel6(sentinel.nodeRedis), REPLICATED],
])('RedisLockStore on Sentinel with node-redis %s', (_, open, options) => {
  const stores: RedisLockStore[] = [];
  afterAll(() => Promise.all(stores.map((store) => store.close())));
  lockStoreConformance({
    test: Object.assign(it, { skip: it.skip }),
    lacks: ['sessions', 'globalTokens'],
    createStore: () => {
      const store = new RedisLockStore(open(), options);
      stores.push(store);
      return store;
    },
  });
});
