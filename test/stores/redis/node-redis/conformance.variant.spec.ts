import { RESP_TYPES, createClient } from 'redis';
import { createClient as createClient6 } from 'redis6';
import { RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast/core';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { RedisServer } from '../../../support/servers/redis-server.js';

/** Makes the client of one process. */
type Open = (url: string) => ConstructorParameters<typeof RedisLockStore>[0];
type Options = NonNullable<Parameters<typeof createClient>[0]>;

/** Replies that no script expects. */
const MAPPED = {
  [RESP_TYPES.NUMBER]: String,
  [RESP_TYPES.BLOB_STRING]: Buffer,
  [RESP_TYPES.SIMPLE_STRING]: Buffer,
};

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.shared();
});

afterAll(() => server.stop());

const with5 =
  (options: Options = {}): Open =>
  (url) =>
    createClient({ url, ...options });

describe.each<[string, Open, RedisLockStoreOptions]>([
  ['5', with5(), {}],
  [
    '5 that speaks RESP3 and maps types',
    with5({ RESP: 3, commandOptions: { typeMapping: MAPPED } }),
    {},
  ],
  [
    '5 without an offline queue, in strict order',
    with5({ disableOfflineQueue: true }),
    { localPassLimit: 0 },
  ],
  ['6', (url) => createClient6({ url }), {}],
])('RedisLockStore with node-redis %s', (_, open, options) => {
  const stores: RedisLockStore[] = [];
  afterAll(() => Promise.all(stores.map((store) => store.close())));
  lockStoreConformance({
    test: Object.assign(it, { skip: it.skip }),
    lacks: ['sessions', 'globalTokens'],
    createStore: () => {
      const store = new RedisLockStore(open(server.url), options);
      stores.push(store);
      return store;
    },
  });
});
