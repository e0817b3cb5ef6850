import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import { type LockStore, RedisLockStore } from 'nest-holdfast';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { RedlockStore } from 'nest-holdfast/redlock';
import { SqlLockStore, type SqlLockStoreOptions } from 'nest-holdfast/sql';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { EtcdServer } from '../../support/servers/etcd-server.js';
import { MariaDbServer } from '../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../support/servers/postgres-server.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { ZooKeeperServer } from '../../support/servers/zookeeper-server.js';
import { openPool } from '../sql/postgres/postgres-pool.js';
import { disconnect } from '../redis/locks.js';

export interface Opened {
  readonly store: LockStore;
  readonly close?: () => unknown;
}

/** A server, and how to reach it at a port. */
export interface Backend {
  readonly port: number;
  readonly open: (port: number) => Opened;
  stop?(): Promise<void>;
}

/** Longer than anything here takes. */
const SESSION_TIMEOUT = 60_000;

const postgres = (options: SqlLockStoreOptions) => async (): Promise<Backend> => {
  const server = await PostgresServer.shared();
  const open = (port: number) => {
    const pool = openPool(server.urlAt(port), { max: 4 });
    return {
      pool,
      store: new SqlLockStore({ postgres: pool }, options),
      close: () => void pool.end(),
    };
  };
  const { pool, store } = open(server.port);
  await store.createTable();
  await pool.end();
  return { port: server.port, open };
};

/** Every store with a server, but Redis itself. */
export const BACKENDS: [string, () => Promise<Backend>][] = [
  ['PostgreSQL', postgres({})],
  ['PostgreSQL that is polled', postgres({ listen: false })],
  [
    'MariaDB',
    async () => {
      const server = await MariaDbServer.shared();
      const open = (port: number) => {
        const pool = createPool({ uri: server.urlAt(port), connectionLimit: 4 });
        return {
          pool,
          store: new SqlLockStore({ mysql: pool }),
          close: () => pool.end().catch(() => {}),
        };
      };
      const { store, close } = open(server.port);
      await store.createTable();
      await close();
      return { port: server.port, open };
    },
  ],
  [
    'ZooKeeper',
    async () => {
      const server = await ZooKeeperServer.start(); // a process that was cut off leaves its session
      const open = (at: number) => ({
        store: new ZooKeeperLockStore(`127.0.0.1:${at}`, { sessionTimeout: SESSION_TIMEOUT }),
      });
      return { port: server.port, open, stop: () => server.stop() };
    },
  ],
  [
    'etcd',
    async () => {
      const { port } = await EtcdServer.shared();
      const open = (at: number) => ({
        store: new EtcdLockStore({ hosts: `127.0.0.1:${at}` }, { sessionTimeout: SESSION_TIMEOUT }),
      });
      return { port, open };
    },
  ],
  [
    'Redlock',
    async () => {
      const { port } = await RedisServer.shared();
      const open = (at: number) => {
        const redis = new Redis(at, '127.0.0.1', { retryStrategy: () => 20 });
        redis.on('error', () => {});
        const store = new RedlockStore([new RedisLockStore(redis)], { quarantine: false });
        return { store, close: () => disconnect(redis) };
      };
      return { port, open };
    },
  ],
];
