import { Redis } from 'ioredis';
import { type LockStore, RedisLockStore } from 'nest-holdfast';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { RedlockStore } from 'nest-holdfast/redlock';
import { SqlLockStore } from 'nest-holdfast/sql';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { EtcdServer } from '../../support/servers/etcd-server.js';
import { PostgresServer } from '../../support/servers/postgres-server.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { ZooKeeperServer } from '../../support/servers/zookeeper-server.js';
import { disconnect } from '../../stores/redis/locks.js';
import { openPool } from '../../stores/sql/postgres/postgres-pool.js';

/** The servers of one of the stores of a move. */
export interface Side extends AsyncDisposable {
  /** A store of its own, as each process has. */
  open(): LockStore;
}

const redis = async (): Promise<Side> => {
  const server = await RedisServer.start();
  const clients: Redis[] = [];
  return {
    open: () => {
      const client = new Redis(server.url);
      clients.push(client);
      return new RedisLockStore(client);
    },
    async [Symbol.asyncDispose]() {
      clients.forEach(disconnect);
      await server.stop();
    },
  };
};

const redlock = async (): Promise<Side> => {
  const nodes = await Promise.all([redis(), redis(), redis()]);
  return {
    // A busy machine is no hung node.
    open: () =>
      new RedlockStore(
        nodes.map((node) => node.open()),
        { nodeTimeout: 60_000, quarantine: false },
      ),
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    },
  };
};

const postgres = async (): Promise<Side> => {
  const server = await PostgresServer.shared();
  const pools = [0, 1].map(() => openPool(server.url, { max: 8 }));
  await new SqlLockStore({ postgres: pools[0]! }).createTable();
  let opened = 0;
  return {
    open: () => new SqlLockStore({ postgres: pools[opened++ % 2]! }),
    async [Symbol.asyncDispose]() {
      await Promise.all(pools.map((pool) => pool.end()));
      await server.stop();
    },
  };
};

const etcd = async (): Promise<Side> => {
  const server = await EtcdServer.shared();
  return {
    open: () => new EtcdLockStore({ hosts: server.url }),
    async [Symbol.asyncDispose]() {
      await server.stop();
    },
  };
};

const zookeeper = async (): Promise<Side> => {
  const server = await ZooKeeperServer.shared();
  return {
    open: () => new ZooKeeperLockStore(server.url),
    async [Symbol.asyncDispose]() {
      await server.stop();
    },
  };
};

/** The servers of a store, by its name. */
export const SIDES = {
  Redis: redis,
  Redlock: redlock,
  PostgreSQL: postgres,
  etcd,
  ZooKeeper: zookeeper,
};
