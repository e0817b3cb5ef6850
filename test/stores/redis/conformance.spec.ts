import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { RedisLockStore } from 'nest-holdfast/core';
import { lockStoreConformance } from 'nest-holdfast/testing';
import { RedisCluster } from '../../support/servers/redis-cluster.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { conformance, onCluster } from './conformance-suite.js';
import { disconnect } from './locks.js';

let server: RedisServer;
let cluster: RedisCluster;

const ON_A_CLUSTER = onCluster(() => cluster);

beforeAll(async () => {
  [server, cluster] = await Promise.all([RedisServer.shared(), RedisCluster.shared()]);
});

afterAll(async () => {
  await Promise.all([server.stop(), cluster.stop()]);
});

describe('RedisLockStore with ioredis 6', () => {
  conformance(() => new Redis(server.url));
});

describe('RedisLockStore in strict order', () => {
  conformance(() => new Redis(server.url), { localPassLimit: 0 });
});

describe('RedisLockStore with ioredis 5, with a keyPrefix', () => {
  conformance(() => new Redis5(server.url, { keyPrefix: 'app:' }));
});

describe('RedisLockStore on a Cluster', () => {
  conformance(() => new Redis.Cluster(cluster.startupNodes), {}, ON_A_CLUSTER);
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
