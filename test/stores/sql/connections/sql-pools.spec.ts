import { LockService } from 'nest-holdfast';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import { createPool } from 'mysql2/promise';
import { inTime } from '../../../support/faults/in-time.js';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { openPool } from '../postgres/postgres-pool.js';

/** A pool of two connections, shared by the locks and by the work. */
interface SmallPool {
  readonly client: SqlClient;
  /** Work of a transaction, which needs a connection for itself. */
  transaction(): Promise<void>;
  end(): Promise<void>;
}

function onPostgres(url: string): SmallPool {
  const pool = openPool(url, { max: 2 });
  return {
    client: { postgres: pool },
    end: () => pool.end(),
    transaction: async () => {
      const connection = await pool.connect();
      for (const sql of ['BEGIN', 'SELECT pg_sleep(0.005)', 'COMMIT']) await connection.query(sql);
      connection.release();
    },
  };
}

function onMariaDb(uri: string): SmallPool {
  const pool = createPool({ uri, connectionLimit: 2 });
  return {
    client: { mysql: pool },
    end: () => pool.end(),
    transaction: async () => {
      const connection = await pool.getConnection();
      for (const sql of ['BEGIN', 'SELECT SLEEP(0.005)', 'COMMIT']) await connection.query(sql);
      connection.release();
    },
  };
}

describe.each([
  ['PostgreSQL', () => PostgresServer.shared(), onPostgres],
  ['MariaDB', () => MariaDbServer.shared(), onMariaDb],
] as const)('a pool of two connections of %s', (_, start, open) => {
  let server: PostgresServer | MariaDbServer;
  let pool: SmallPool;
  let locks: LockService;

  beforeAll(async () => {
    server = await start();
    pool = open(server.url);
    const store = new SqlLockStore(pool.client);
    await store.createTable();
    locks = new LockService(store, { ttl: 30_000, waitTimeout: 60_000 });
  });

  afterAll(async () => {
    await locks.close();
    await pool.end();
    await server.stop();
  });

  it.each([1, 10, 50])(
    'serves 50 callers with %i keys whose work needs the pool, too',
    async (keys) => {
      const running = new Map<string, number>();
      const calls = Array.from({ length: 50 }, (__, index) => `order:${index % keys}`);
      const work = calls.map((key) =>
        locks.withLock(key, async (lock) => {
          running.set(key, (running.get(key) ?? 0) + 1);
          expect(running.get(key)).toBe(1);
          await pool.transaction();
          running.set(key, 0);
          return lock.isHeld;
        }),
      );
      expect(await inTime(60_000, Promise.all(work))).toEqual(calls.map(() => true));
    },
  );

  it('stays open when the service that uses it is closed', async () => {
    const store = new SqlLockStore(pool.client);
    const closing = new LockService(store);
    await closing.acquire('order:43');
    await closing.close();
    await pool.transaction();
    expect(await locks.inspect('order:43')).toBeUndefined();
  });

  it('has no connection in use while a lock is held', async () => {
    await locks.withLock('order:42', async () => {
      await inTime(60_000, Promise.all([pool.transaction(), pool.transaction()]));
    });
  });
});
