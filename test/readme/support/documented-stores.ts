import { MemoryLockStore, RedisLockStore } from 'nest-holdfast/core';
import type { LockStore } from 'nest-holdfast/core';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { RedlockStore } from 'nest-holdfast/redlock';
import { SqlLockStore } from 'nest-holdfast/sql';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { Pool } from 'pg';
import type { SubscribableClient } from '../../../lib/redis-client/redis-client.js';

/** One row of the table of features. */
export interface DocumentedStore {
  /** Folder under lib/stores/, and page under docs/stores/. */
  readonly folder: string;
  readonly name: string;
  /** Where it is imported from. */
  readonly entry: string;
  /** The faults that a lock survives, in words. */
  readonly survives: string;
  /** Makes one that is connected to nothing. */
  readonly make: () => LockStore;
}

/** In the order of docs/stores.md. A new store is a row here. */
export const DOCUMENTED_STORES: readonly DocumentedStore[] = [
  {
    folder: 'redis',
    name: 'Redis, Sentinel',
    entry: 'nest-holdfast',
    survives: 'crashes of clients; a failover with `replicas`',
    make: () => new RedisLockStore(redisClient()),
  },
  {
    folder: 'redis',
    name: 'Redis Cluster',
    entry: 'nest-holdfast',
    survives: 'crashes of clients; a failover with `replicas`',
    make: () => new RedisLockStore({ ...redisClient(), isCluster: true }),
  },
  {
    folder: 'redlock',
    name: 'Redlock',
    entry: 'nest-holdfast/redlock',
    survives: 'the loss of any minority of its nodes',
    make: () => new RedlockStore([1, 2, 3].map(() => new RedisLockStore(redisClient()))),
  },
  {
    folder: 'zookeeper',
    name: 'ZooKeeper',
    entry: 'nest-holdfast/zookeeper',
    survives: 'the loss of any minority of the ensemble',
    make: () => new ZooKeeperLockStore('127.0.0.1:2181'),
  },
  {
    folder: 'etcd',
    name: 'etcd',
    entry: 'nest-holdfast/etcd',
    survives: 'the loss of any minority of the members',
    make: () => new EtcdLockStore({ hosts: '127.0.0.1:2379' }),
  },
  {
    folder: 'sql',
    name: 'PostgreSQL',
    entry: 'nest-holdfast/sql',
    survives: 'restarts; a failover to a synchronous replica',
    make: () => new SqlLockStore({ postgres: new Pool() }),
  },
  {
    folder: 'sql',
    name: 'MySQL, MariaDB',
    entry: 'nest-holdfast/sql',
    survives: 'restarts; a failover to a synchronous replica',
    make: () => new SqlLockStore({ mysql: { query: never } }),
  },
  {
    folder: 'sql',
    name: 'SQLite',
    entry: 'nest-holdfast/sql',
    survives: 'restarts; on one machine only',
    make: () => new SqlLockStore({ sqlite: { prepare: () => ({ all: () => [] }), exec: never } }),
  },
  {
    folder: 'memory',
    name: 'In memory',
    entry: 'nest-holdfast',
    survives: 'nothing: one process only',
    make: () => new MemoryLockStore(),
  },
];

/** A client that can subscribe. It is never called. */
function redisClient(): SubscribableClient {
  const calls = { evalsha: never, eval: never, wait: never, subscribe: never, unsubscribe: never };
  const nothing = () => undefined;
  const duplicate = () => ({ ...redisClient(), disconnect: nothing });
  return { ...calls, on: nothing, off: nothing, duplicate };
}

function never(): Promise<never> {
  return Promise.reject(new Error('not connected'));
}
