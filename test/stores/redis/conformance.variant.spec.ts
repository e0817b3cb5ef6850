import { type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { RedisCluster } from '../../support/servers/redis-cluster.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { conformance, type ConformanceSuite, onCluster } from './conformance-suite.js';

let server: RedisServer;
let cluster: RedisCluster;

const ON_A_CLUSTER = onCluster(() => cluster);

beforeAll(async () => {
  [server, cluster] = await Promise.all([RedisServer.shared(), RedisCluster.shared()]);
});

afterAll(async () => {
  await Promise.all([server.stop(), cluster.stop()]);
});

describe.each<[string, RedisOptions]>([
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

describe('RedisLockStore in strict order on a Cluster', () => {
  const open = () => new Redis.Cluster(cluster.startupNodes);
  conformance(open, { localPassLimit: 0 }, ON_A_CLUSTER);
});

describe.each([
  ['by default', {}],
  [
    'with stringNumbers and enableAutoPipelining',
    { stringNumbers: true, enableAutoPipelining: true },
  ],
])('RedisLockStore with ioredis 5 %s', (_, options) => {
  conformance(() => new Redis5(server.url, options));
});

describe.each<[string, ClusterOptions]>([
  ['with a keyPrefix', { redisOptions: { keyPrefix: 'app:' } }],
  ['with enableAutoPipelining', { enableAutoPipelining: true }],
])('RedisLockStore on a Cluster with ioredis 6 %s', (_, options) => {
  const skips: ConformanceSuite['skips'] = options.enableAutoPipelining
    ? [/odd character/, 'a pipeline of ioredis computes another slot for `{}{tag}` than Redis does']
    : undefined;
  conformance(
    () => new Redis.Cluster(cluster.startupNodes, options),
    {},
    { ...ON_A_CLUSTER, skips },
  );
});

describe('RedisLockStore on a Cluster with ioredis 5', () => {
  const open = () => new Redis5.Cluster(cluster.startupNodes, { keyPrefix: 'five:' });
  conformance(open, {}, ON_A_CLUSTER);
});
