import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import { LeaderElection, type LockStore, LockService, RedisLockStore } from 'nest-holdfast';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { RedlockStore } from 'nest-holdfast/redlock';
import { SqlLockStore, type SqlLockStoreOptions } from 'nest-holdfast/sql';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { rejectionOf } from '../core/support/outcome.js';
import { EtcdServer } from '../support/etcd-server.js';
import { MariaDbServer } from '../support/mariadb-server.js';
import { PostgresServer } from '../support/postgres-server.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { openPool } from './sql/postgres-pool.js';
import { disconnect } from './redis/locks.js';

interface Opened {
  readonly store: LockStore;
  readonly close?: () => unknown;
}

/** A server, and how to reach it at a port. */
interface Backend {
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

const BACKENDS: [string, () => Promise<Backend>][] = [
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
      const server = await ZooKeeperServer.start(); // whoever was cut off leaves its session
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

describe.each(BACKENDS)('Who waits on a hung %s', (_, start) => {
  let backend: Backend;
  let proxy: TcpProxy;
  let holder: Opened;
  let waiter: Opened;
  let holding: LockService;
  let waiting: LockService;

  let count = 0;
  let key: string;

  beforeAll(async () => {
    backend = await start();
  });

  afterAll(() => backend.stop?.());

  beforeEach(async () => {
    const { port, open } = backend;
    key = `order:${(count += 1)}`;
    proxy = await TcpProxy.start(port);
    holder = open(port);
    waiter = open(proxy.port);
    holding = new LockService(holder.store, { ttl: 60_000 });
    waiting = new LockService(waiter.store, { ttl: 60_000 });
    await holding.acquire(key);
    expect(await waiting.tryAcquire(key)).toBeUndefined();
  });

  afterEach(async () => {
    proxy.cutAll();
    proxy.pass();
    await waiting.close();
    await holding.close();
    await proxy.stop();
    await Promise.all([holder.close?.(), waiter.close?.()]);
  });

  /** Resolves once somebody stands in line, or polls. */
  async function waits(): Promise<void> {
    const asked = waiter.store.acquire
      ? jest.spyOn(waiter.store, 'acquire')
      : jest.spyOn(waiter.store, 'tryAcquire');
    await until(() => asked.mock.calls.length > 0);
  }

  it('is told so at the end of the wait, and not that the key is held', async () => {
    const end = rejectionOf(waiting.acquire(key, { waitTimeout: 3_500, retryDelay: 20 }));
    await waits();
    proxy.replies.drop();
    expect(await end).toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });

  it('is told that the key is held, when it goes on in time', async () => {
    const end = rejectionOf(waiting.acquire(key, { waitTimeout: 4_000, retryDelay: 20 }));
    await waits();
    proxy.replies.hold();
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // a pause that everybody survives
    proxy.pass();
    expect(await end).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });

  it('hears of it as a candidate for leadership', async () => {
    await holding.acquire(`leader:${key}`);
    const election = new LeaderElection(waiting, key, { storeTimeout: 500 });
    const failed = jest.fn();
    election.events.on('failed', failed);
    election.start();
    await waits();
    proxy.replies.drop();
    await until(() => failed.mock.calls.length > 0, { what: 'the event "failed"' });
    proxy.cutAll();
    proxy.pass();
    await election.stop();
  });
});
