import { once } from 'node:events';
import { createPool } from 'mysql2/promise';
import { LockService } from 'nest-holdfast';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import { MariaDbServer } from '../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../support/servers/postgres-server.js';
import { until } from '../../support/until.js';
import { openPool } from './postgres/postgres-pool.js';

/** A database whose clock can be set, for the connections of one client. */
interface Database {
  readonly client: SqlClient;
  set(seconds: number): Promise<unknown>;
  stop(): Promise<void>;
}

/** Told of each statement. */
type Sent = (sql: string) => void;

/** The function that tells the time is another one there. */
async function postgres(sent: Sent): Promise<Database> {
  const server = await PostgresServer.shared();
  const pool = openPool(server.url, { max: 4, options: '-c search_path=set_clock,pg_catalog' });
  await pool.query('CREATE SCHEMA set_clock');
  const set = (seconds: number) =>
    pool.query(`CREATE OR REPLACE FUNCTION set_clock.clock_timestamp() RETURNS timestamptz
LANGUAGE sql VOLATILE AS $$ SELECT pg_catalog.clock_timestamp() + interval '${seconds} seconds' $$`);
  await set(0);
  const query = (asked: { readonly text: string }) => {
    sent(asked.text);
    return pool.query(asked as never);
  };
  const stop = async () => {
    await pool.query('DROP SCHEMA set_clock CASCADE');
    await pool.end();
    await server.stop();
  };
  return { client: { postgres: { query } }, set, stop };
}

/** A session there may have a time of its own. */
async function mariadb(sent: Sent): Promise<Database> {
  const server = await MariaDbServer.shared();
  const pool = createPool({ uri: server.url, connectionLimit: 1 });
  let by = 0;
  const query = async (sql: string, values: unknown[]) => {
    sent(sql);
    const connection = await pool.getConnection();
    try {
      await connection.query('SET timestamp = UNIX_TIMESTAMP(SYSDATE(6)) + ?', [by]);
      return await connection.query(sql, values);
    } finally {
      connection.release();
    }
  };
  const stop = async () => {
    await pool.end();
    await server.stop();
  };
  return { client: { mysql: { query } }, set: async (seconds) => (by = seconds), stop };
}

describe.each([
  ['PostgreSQL', postgres],
  ['MariaDB', mariadb],
])('When the clock of a %s is set', (_, start) => {
  let database: Database;
  let locks: LockService;
  let asked = 0;

  beforeEach(async () => {
    database = await start((sql) => void (isQuestion(sql) && asked++));
    const store = new SqlLockStore(database.client, {});
    await store.createTable();
    locks = new LockService(store, { ttl: 60_000 });
  });

  afterEach(async () => {
    await locks.close();
    await database.stop();
  });

  /** Whether it asks for the time, and for nothing else. */
  function isQuestion(sql: string): boolean {
    return /^SELECT [^;]*(?:epoch|MICROSECOND)/.test(sql) && !/FROM \S*locks/.test(sql);
  }

  /** Resolves once the store has seen the clock as it was. */
  async function seen(): Promise<void> {
    const before = asked;
    await until(() => asked >= before + 2);
  }

  it.each([
    ['forward', 30],
    ['back', -30],
  ])('%s, its locks are in doubt, and extended at once', async (direction, seconds) => {
    const lock = await locks.acquire('order:42');
    await seen();
    const doubted = once(locks.events, 'jeopardy') as Promise<[{ error: Error }]>;
    await database.set(seconds);
    const [{ error }] = await doubted;
    expect(error.message).toContain(`the clock of the database was set ${direction}`);
    await until(async () => {
      const { remaining = 0 } = (await locks.inspect('order:42'))!;
      return remaining > 50_000 && remaining <= 60_000;
    });
    await until(() => lock.isHeld && lock.remaining > 50_000);
    expect(await lock.release()).toBe(true);
  });

  it('and a lock has ended by it, its holder is told', async () => {
    const lock = await locks.acquire('order:42');
    await seen();
    await database.set(90);
    await until(() => !lock.isHeld);
    expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ reason: 'gone' }));
  });
});
