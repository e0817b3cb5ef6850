import { type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { RedisLockStore, type RedisLockStoreOptions } from 'nest-holdfast/core';
import { type ConformanceFeature, lockStoreConformance } from 'nest-holdfast/testing';
import { RedisCluster } from '../../support/servers/redis-cluster.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { disconnect } from './locks.js';

type AnyClient = ConstructorParameters<typeof RedisLockStore>[0] & Parameters<typeof disconnect>[0];

const ON_A_CLUSTER: Suite = {
  lacks: ['manyKeys', 'extendMany'],
  disconnect: () => cutClientsOf(cluster),
};

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

describe('RedisLockStore in strict order', () => {
  conformance(() => new Redis(server.url), { localPassLimit: 0 });
});

describe('RedisLockStore in strict order on a Cluster', () => {
  const open = () => new Redis.Cluster(cluster.startupNodes);
  conformance(open, { localPassLimit: 0 }, ON_A_CLUSTER);
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
  const skips: Suite['skips'] = options.enableAutoPipelining
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

describe('RedisLockStore on a server that is started again', () => {
  let restarted: RedisServer;
  const clients: Redis[] = [];

  beforeAll(async () => {
    restarted = await RedisServer.start();
  });

  afterAll(async () => {
    clients.forEach(disconnect);
    await restarted.stop();
  });

  lockStoreConformance({
    test: (name, run) => (name.startsWith('tells of a doubt') ? it(name, run) : undefined),
    createStore: () => {
      const client = new Redis(restarted.url);
      client.on('error', () => {}); // it is away for a moment
      clients.push(client);
      return new RedisLockStore(client);
    },
    disconnect: () => restarted.restart(),
  });
});

/** Ends every connection to a master: its clients may come back to another one. */
async function cutClientsOf({ startupNodes }: RedisCluster): Promise<void> {
  for (const { host, port } of startupNodes) {
    const admin = new Redis(port, host);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    admin.disconnect();
  }
}

interface Suite {
  readonly lacks?: readonly ConformanceFeature[];
  readonly disconnect?: (() => Promise<void>) | undefined;
  /** Checks that are skipped, and why. */
  readonly skips?: readonly [name: RegExp, reason: string] | undefined;
}

/** Two clients stand for two processes. */
function conformance(
  open: () => AnyClient,
  options: RedisLockStoreOptions = {},
  { lacks = [], disconnect: cut, skips }: Suite = {},
): void {
  const clients: AnyClient[] = [];
  let opened = 0;
  beforeAll(() => void clients.push(open(), open()));
  afterAll(() => clients.forEach(disconnect));
  const test = (name: string, run: () => Promise<void>) =>
    skips?.[0].test(name) ? it.skip(`${name} (${skips[1]})`, run) : it(name, run);
  lockStoreConformance({
    test: Object.assign(test, { skip: it.skip }),
    lacks: ['sessions', 'globalTokens', ...lacks],
    ...(cut && { disconnect: cut }),
    createStore: () => new RedisLockStore(clients[opened++ % 2]!, options),
  });
}
