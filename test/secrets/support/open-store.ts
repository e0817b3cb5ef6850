import Database from 'libsql';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createPool, type PoolOptions } from 'mysql2/promise';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { type LockStore, RedisLockStore } from 'nest-holdfast/core';
import { RedlockStore } from 'nest-holdfast/redlock';
import { SqlLockStore } from 'nest-holdfast/sql';
import { ZooKeeperLockStore, type ZooKeeperLockStoreOptions } from 'nest-holdfast/zookeeper';
import { Pool, type PoolConfig } from 'pg';

/** The store that a worker is to open. */
export type StoreSpec =
  | { readonly redis: string | RedisOptions; readonly version?: 5 }
  | { readonly cluster: readonly { host: string; port: number }[]; readonly password: string }
  | { readonly redlock: readonly string[] }
  | { readonly zookeeper: string; readonly options?: ZooKeeperLockStoreOptions }
  | { readonly etcd: ConstructorParameters<typeof EtcdLockStore>[0] }
  | { readonly postgres: PoolConfig; readonly table?: string }
  | { readonly mysql: PoolOptions; readonly table?: string }
  | { readonly postgresUrl: string }
  | { readonly sqlite: string };

/** With drivers that tell their own listeners nothing: the messages of a driver are its own affair. */
export function openStore(spec: StoreSpec): LockStore {
  if ('redis' in spec) return new RedisLockStore(redisClient(spec.redis, spec.version));
  if ('cluster' in spec) return new RedisLockStore(clusterClient(spec));
  if ('redlock' in spec) {
    const nodes = spec.redlock.map((url) => new RedisLockStore(redisClient(url)));
    return new RedlockStore(nodes, { quarantine: false, nodeTimeout: 400 });
  }
  if ('zookeeper' in spec) {
    return new ZooKeeperLockStore(spec.zookeeper, { connectTimeout: 400, ...spec.options });
  }
  if ('etcd' in spec) return new EtcdLockStore(spec.etcd);
  if ('postgres' in spec) return postgresStore(spec);
  if ('postgresUrl' in spec) return new SqlLockStore({ postgres: spec.postgresUrl as never });
  if ('mysql' in spec) return new SqlLockStore({ mysql: createPool(spec.mysql) }, tableOf(spec));
  return new SqlLockStore({ sqlite: new Database(spec.sqlite) });
}

export function redisClient(given: string | RedisOptions, version?: 5): Redis {
  const options = { maxRetriesPerRequest: 1, ...(typeof given === 'string' ? {} : given) };
  const Client = (version === 5 ? Redis5 : Redis) as typeof Redis;
  const client =
    typeof given === 'string' ? new Client(given, options as never) : new Client(options as never);
  client.on('error', () => {});
  return client;
}

function clusterClient({ cluster, password }: { cluster: readonly object[]; password: string }) {
  const client = new Cluster(cluster as never, {
    redisOptions: { password, maxRetriesPerRequest: 1 },
    clusterRetryStrategy: () => 100,
  });
  client.on('error', () => {});
  return client;
}

function postgresStore(spec: { postgres: PoolConfig; table?: string }) {
  const pool = new Pool({ connectionTimeoutMillis: 20_000, ...spec.postgres });
  pool.on('error', () => {});
  return new SqlLockStore({ postgres: pool }, tableOf(spec));
}

function tableOf({ table }: { readonly table?: string }): object {
  return table === undefined ? {} : { table };
}
