import type { LockStore } from 'nest-holdfast';
import type { MigrationPhase } from 'nest-holdfast/migrate';
import { OwnClient } from '../../../stores/redis/locks.js';
import { dyingStore } from './dying-store.js';
import type { Death } from './dying-store.js';

/** Which store, and where: the address is what its servers call `url`, of several joined by commas; a file for SQLite. */
export interface StoreAddress {
  readonly kind:
    | 'redis'
    | 'redlock'
    | 'zookeeper'
    | 'etcd'
    | 'postgres'
    | 'mariadb'
    | 'sqlite'
    /** A move between two stores: its address is JSON. */
    | 'migrating';
  readonly address: string;
}

export interface OpenStore {
  readonly store: LockStore;
  /** The clients of Redis, where these are behind the store. */
  readonly clients?: readonly OwnClient[];
  /** Closes what `store.close` leaves open. */
  readonly close: () => Promise<unknown>;
}

/** Milliseconds for one of several nodes. */
const NODE_TIMEOUT = 250;
/** More than the callers of a process would not help: each key has one contender. */
const CONNECTIONS = 4;

type Opener = (address: string, life: number) => Promise<OpenStore>;

/** Each loads its own client, and no other. */
const OPENERS: Readonly<Record<StoreAddress['kind'], Opener>> = {
  redis: async (address) => {
    const { RedisLockStore } = await import('nest-holdfast');
    const client = new OwnClient(address);
    return {
      store: new RedisLockStore(client.redis),
      clients: [client],
      close: () => client[Symbol.asyncDispose](),
    };
  },
  /** A node that comes back without its data has no vote before all locks it may have had are over. */
  redlock: async (address, life) => {
    const { RedisLockStore } = await import('nest-holdfast');
    const { RedlockStore } = await import('nest-holdfast/redlock');
    const clients = address.split(',').map((url) => new OwnClient(url));
    const stores = clients.map(({ redis }) => new RedisLockStore(redis));
    const options = { nodeTimeout: NODE_TIMEOUT, quarantine: true, largestTtl: life };
    return {
      store: new RedlockStore(stores, options),
      close: () => Promise.all(clients.map((client) => client[Symbol.asyncDispose]())),
    };
  },
  zookeeper: async (address, life) => {
    const { ZooKeeperLockStore } = await import('nest-holdfast/zookeeper');
    return {
      store: new ZooKeeperLockStore(address, { sessionTimeout: life }),
      close: async () => undefined,
    };
  },
  etcd: async (address, life) => {
    const { EtcdLockStore } = await import('nest-holdfast/etcd');
    return {
      store: new EtcdLockStore({ hosts: address.split(',') }, { sessionTimeout: life }),
      close: async () => undefined,
    };
  },
  postgres: async (address) => {
    const { SqlLockStore } = await import('nest-holdfast/sql');
    const { Pool } = await import('pg');
    const pool = new Pool({ connectionString: address, max: CONNECTIONS });
    pool.on('error', () => {}); // the queries say what matters here
    return { store: new SqlLockStore({ postgres: pool }), close: () => pool.end() };
  },
  mariadb: async (address) => {
    const { SqlLockStore } = await import('nest-holdfast/sql');
    const { createPool } = await import('mysql2/promise');
    const pool = createPool({ uri: address, connectionLimit: CONNECTIONS });
    return { store: new SqlLockStore({ mysql: pool }), close: () => pool.end() };
  },
  migrating: async (address, life) => {
    const { MigratingLockStore } = await import('nest-holdfast/migrate');
    const { phase, fencingBase, fromClosed, death, ...sides } = JSON.parse(address) as Move;
    const [one, other] = [await openStore(sides.from, life), await openStore(sides.to, life)];
    const base = fencingBase === undefined ? undefined : BigInt(fencingBase);
    const options = { phase, largestTtl: life, fencingBase: base, fromClosed };
    const stores = { from: one.store, to: other.store };
    if (death) stores[death.at] = dyingStore(stores[death.at], death);
    return {
      store: new MigratingLockStore({ ...stores, ...options }),
      close: () => Promise.all([one.close(), other.close()]),
    };
  },
  sqlite: async (address) => {
    const { SqlLockStore } = await import('nest-holdfast/sql');
    const { default: Database } = await import('libsql');
    const database = new Database(address);
    return {
      store: new SqlLockStore({ sqlite: database }),
      close: async () => database.close(),
    };
  },
};

/** The address of `migrating`. */
interface Move {
  readonly from: StoreAddress;
  readonly to: StoreAddress;
  readonly phase: MigrationPhase;
  /** In digits. */
  readonly fencingBase?: string;
  readonly fromClosed?: boolean;
  readonly death?: Death;
}

/** `life` is the ttl in use, and the session timeout where the store has sessions. */
export function openStore({ kind, address }: StoreAddress, life: number): Promise<OpenStore> {
  return OPENERS[kind](address, life);
}
