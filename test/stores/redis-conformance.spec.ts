import { type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast/core';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';
import { disconnect } from './redis-locks.js';

type AnyClient = ConstructorParameters<typeof RedisLockStore>[0] & Parameters<typeof disconnect>[0];

let server: RedisServer;
let cluster: RedisCluster;

beforeAll(async () => {
  [server, cluster] = await Promise.all([RedisServer.shared(), RedisCluster.shared()]);
});

afterAll(async () => {
  await Promise.all([server.stop(), cluster.stop()]);
});

describe.each<[string, RedisOptions]>([
  ['by default', {}],
  ['that speaks RESP2', { protocol: 2, keyPrefix: '{app}:' }],
  ['with a keyPrefix', { keyPrefix: 'app:' }],
  ['with stringNumbers', { stringNumbers: true, replyMapping: 'resp3' }],
  ['with enableAutoPipelining', { enableAutoPipelining: true }],
])('RedisLockStore with ioredis 6 %s', (_, options) => {
  conformance(() => new Redis(server.url, options));
});

describe('RedisLockStore with an empty keyPrefix, and a write for each command', () => {
  conformance(() => new Redis(server.url), { keyPrefix: '', batchWrites: false });
});

describe.each([
  ['by default', {}],
  ['with a keyPrefix', { keyPrefix: 'app:' }],
  [
    'with stringNumbers and enableAutoPipelining',
    { stringNumbers: true, enableAutoPipelining: true },
  ],
])('RedisLockStore with ioredis 5 %s', (_, options) => {
  conformance(() => new Redis5(server.url, options));
});

describe.each<[string, ClusterOptions]>([
  ['by default', {}],
  ['with a keyPrefix', { redisOptions: { keyPrefix: 'app:' } }],
  ['with enableAutoPipelining', { enableAutoPipelining: true }],
])('RedisLockStore on a Cluster with ioredis 6 %s', (_, options) => {
  // A pipeline of ioredis refuses keys such as `{}{tag}`, for which it computes another slot than Redis does.
  const omit = options.enableAutoPipelining ? /odd character/ : undefined;
  conformance(() => new Redis.Cluster(cluster.startupNodes, options), { omit });
});

describe('RedisLockStore on a Cluster with ioredis 5', () => {
  conformance(() => new Redis5.Cluster(cluster.startupNodes, { keyPrefix: 'five:' }));
});

/** Two clients stand for two processes. */
function conformance(
  open: () => AnyClient,
  { omit, ...options }: RedisLockStoreOptions & { readonly omit?: RegExp | undefined } = {},
): void {
  const clients: AnyClient[] = [];
  let opened = 0;
  beforeAll(() => void clients.push(open(), open()));
  afterAll(() => clients.forEach(disconnect));
  lockStoreConformance({
    test: (name, run) => (omit?.test(name) ? undefined : it(name, run)),
    createStore: () => new RedisLockStore(clients[opened++ % 2]!, options),
  });
}
