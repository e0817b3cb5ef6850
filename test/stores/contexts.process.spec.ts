import { AsyncLocalStorage } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Cluster, Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { LockService, MemoryLockStore, RedisLockStore } from 'nest-holdfast/core';
import type { LockStore } from 'nest-holdfast/core';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { RedlockStore } from 'nest-holdfast/redlock';
import { SqlLockStore } from 'nest-holdfast/sql';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { EtcdServer } from '../support/servers/etcd-server.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { RedisCluster } from '../support/servers/redis-cluster.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { until } from '../support/until.js';
import { ZooKeeperServer } from '../support/servers/zookeeper-server.js';
import { openPool } from './sql/postgres/postgres-pool.js';
import { disconnect } from './redis/locks.js';

type Closing = (close: () => unknown) => void;

/** Clients are connected already: a client may keep the context that connects it, which is the affair of its owner. */
const STORES: Record<string, (closing: Closing) => Promise<LockStore>> = {
  memory: async () => new MemoryLockStore(),
  redis: async (closing) => new RedisLockStore(await redis(closing, Redis)),
  'redis with one more connection': async (closing) =>
    new RedisLockStore(await redis(closing, Redis5)),
  'redis cluster': async (closing) => {
    const cluster = await RedisCluster.shared();
    const client = new Cluster(cluster.startupNodes);
    closing(() => cluster.stop());
    closing(() => disconnect(client));
    await client.ping();
    await Promise.all(client.nodes('master').map((node) => node.ping()));
    return new RedisLockStore(client);
  },
  redlock: async (closing) => {
    const clients = await Promise.all([1, 2, 3].map(() => redis(closing, Redis5)));
    return new RedlockStore(clients.map((client, db) => new RedisLockStore(client, { keyPrefix: `${db}:` }))); // prettier-ignore
  },
  zookeeper: async (closing) => {
    const server = await ZooKeeperServer.shared();
    closing(() => server.stop());
    return new ZooKeeperLockStore(server.url);
  },
  etcd: async (closing) => {
    const server = await EtcdServer.shared();
    closing(() => server.stop());
    return new EtcdLockStore({ hosts: [server.url] });
  },
  postgres: async (closing) => {
    const server = await PostgresServer.shared();
    const pool = openPool(server.url, { max: 4 });
    closing(() => server.stop());
    closing(() => pool.end());
    await Promise.all([1, 2, 3, 4].map(() => pool.query('SELECT pg_sleep(0.05)')));
    const store = new SqlLockStore({ postgres: pool });
    await store.createTable();
    return store;
  },
};

async function redis<Client extends Redis | Redis5>(
  closing: Closing,
  Client: new (url: string) => Client,
): Promise<Client> {
  const server = await RedisServer.shared();
  const client = new Client(server.url);
  closing(() => server.stop());
  closing(() => disconnect(client));
  await client.ping();
  return client;
}

// In a run of its own kind: V8's coverage, with which the quick specs can be run, keeps what has run.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const request = new AsyncLocalStorage<object>();

describe.each(Object.keys(STORES))('a store that is first used in a request, %s,', (name) => {
  const closers: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });

  it('keeps nothing of it', async () => {
    const store = await STORES[name]!((close) => closers.push(close));
    const [locks, others] = [new LockService(store), new LockService(store)];
    closers.push(() => Promise.all([locks.close(), others.close()]));
    const key = `contexts:${name}`;
    const kept = await useIn({ of: 'a request' }, locks, others, key);
    await until(
      async () => {
        for (const each of [locks, others]) await each.withLock(key, () => undefined); // the last call is kept
        collectGarbage();
        return kept.deref() === undefined;
      },
      { within: 30_000, every: 50 },
    );
  });
});

/** A lock, and a wait for it, which makes whatever connections, subscriptions and sessions there are. */
async function useIn(
  context: object,
  locks: LockService,
  others: LockService,
  key: string,
): Promise<WeakRef<object>> {
  await request.run(context, async () => {
    const lock = await locks.acquire(key);
    const waiting = others.withLock(key, () => undefined); // in the queue of the store
    await until(() => others.inspect(key));
    await lock.release();
    await waiting;
  });
  return new WeakRef(context);
}
