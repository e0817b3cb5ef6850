import { randomUUID } from 'node:crypto';
import { type AcquireRequest, LockService } from 'nest-holdfast';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import { type Connection, createConnection, createPool } from 'mysql2/promise';
import { Client } from 'pg';
import { failureKind } from '../../../../lib/stores/sql/common/sql-failures.js';
import { inTime } from '../../../support/faults/in-time.js';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { openPool } from '../postgres/postgres-pool.js';

/** A connection of another client. */
interface Connected {
  run(sql: string): Promise<readonly Record<string, unknown>[]>;
  end(): Promise<unknown>;
}

/** The words in which the two servers differ. */
interface Database {
  readonly url: string;
  stop(): Promise<void>;
  connect(): Promise<Connected>;
  /** A pool whose sessions begin with a setting. */
  open(setting?: string): { client: SqlClient; end: () => Promise<unknown> };
  readonly readOnly: string;
  /** A setting by which a statement waits for a row for a moment only, and the code of those that are refused. */
  readonly impatient: string;
  readonly impatience: string;
  readonly lockRow: string;
  /** Makes the store's statements on the table `deadlocked` wait for the client that has done `block`. */
  readonly block: readonly string[];
  readonly blocked: string;
  /** Waits for those statements. */
  readonly circle: string;
  /** Whose deadlocks are found soon, and a statement for one whose are not. */
  readonly quick: string;
  readonly patient: string;
  /** The code of a deadlock. */
  readonly deadlock: string;
  /** Ids of the sessions of pools. */
  readonly sessions: string;
  readonly waiting: string;
  kill(id: unknown): string;
}

async function postgres(): Promise<Database> {
  const server = await PostgresServer.start();
  return {
    url: server.url,
    stop: () => server.stop(),
    connect: async () => {
      const client = new Client(server.url);
      client.on('error', () => {});
      await client.connect();
      return { run: async (sql) => (await client.query(sql)).rows, end: () => client.end() };
    },
    open: (setting) => {
      const pool = openPool(server.url, { max: 2, ...(setting && { options: `-c ${setting}` }) });
      return { client: { postgres: pool }, end: () => pool.end() };
    },
    readOnly: 'default_transaction_read_only=on',
    impatient: 'lock_timeout=30',
    impatience: '55P03',
    lockRow: 'SELECT 1 FROM holdfast_locks FOR UPDATE',
    block: ['BEGIN', 'SELECT 1 FROM deadlocked FOR UPDATE'],
    blocked: `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%deadlocked%'`,
    circle: 'LOCK TABLE deadlocked',
    quick: 'deadlock_timeout=800ms',
    patient: `SET deadlock_timeout = '20s'`,
    deadlock: '40P01',
    sessions: `SELECT pid AS id FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid()`,
    waiting: `SELECT pid AS id FROM pg_stat_activity WHERE wait_event_type = 'Lock'`,
    kill: (id) => `SELECT pg_terminate_backend(${String(id)})`,
  };
}

async function mariaDb(): Promise<Database> {
  const server = await MariaDbServer.start();
  const connect = async () => {
    const connection: Connection = await createConnection(server.url);
    connection.on('error', () => {});
    return {
      run: async (sql: string) => (await connection.query(sql))[0] as Record<string, unknown>[],
      end: () => connection.end().catch(() => {}),
    };
  };
  return {
    url: server.url,
    stop: () => server.stop(),
    connect,
    open: (setting) => {
      const pool = createPool({ uri: server.url, connectionLimit: 2 });
      if (setting) pool.pool.on('connection', (made) => made.query(`SET SESSION ${setting}`));
      return { client: { mysql: pool }, end: () => pool.end() };
    },
    readOnly: 'TRANSACTION READ ONLY',
    impatient: 'innodb_lock_wait_timeout=1',
    impatience: 'ER_LOCK_WAIT_TIMEOUT',
    lockRow: 'SELECT 1 FROM holdfast_locks FOR UPDATE',
    block: [
      'CREATE INDEX expiry ON deadlocked (expires_at)',
      'CREATE TABLE heavier AS SELECT 1 AS n',
      'BEGIN',
      'INSERT INTO heavier SELECT seq FROM seq_1_to_100', // of a deadlock, the one that wrote less is refused
      'SELECT expires_at FROM deadlocked FORCE INDEX (expiry) LOCK IN SHARE MODE',
    ],
    blocked: `SELECT id FROM information_schema.processlist WHERE command = 'Query' AND time_ms > 20 AND id <> connection_id()`,
    circle: 'SELECT 1 FROM deadlocked FOR UPDATE',
    quick: 'innodb_lock_wait_timeout=20',
    patient: 'SET innodb_lock_wait_timeout = 20',
    deadlock: 'ER_LOCK_DEADLOCK',
    sessions: `SELECT id FROM information_schema.processlist WHERE db = 'holdfast' AND id <> connection_id()`,
    waiting: `SELECT id FROM information_schema.processlist WHERE info LIKE 'INSERT%' AND time_ms > 20`,
    kill: (id) => `KILL ${String(id)}`,
  };
}

const requestFor = (key: string): AcquireRequest => ({ key, keys: [key], token: randomUUID(), ttl: 30_000 }); // prettier-ignore

interface Asked {
  query(...args: unknown[]): Promise<unknown>;
}

/** The codes of those of its statements that a client has rejected, from now on. */
function failuresOf(client: SqlClient): unknown[] {
  const codes: unknown[] = [];
  const record = (asked: Asked) => {
    const query = asked.query.bind(asked);
    asked.query = (...args: unknown[]) =>
      query(...args).catch((error: { code?: unknown }) => {
        codes.push(error.code);
        throw error;
      });
    return asked;
  };
  const pool = Object.values(client)[0] as Asked & { getConnection?(): Promise<Asked> };
  const connect = pool.getConnection?.bind(pool);
  if (connect) pool.getConnection = async () => record(await connect());
  else record(pool);
  return codes;
}

describe.each([
  ['PostgreSQL', postgres],
  ['MariaDB', mariaDb],
])('SqlLockStore on a %s that', (_, start) => {
  let database: Database;
  let admin: Connected;
  let opened: { locks: LockService; end: () => Promise<unknown> }[] = [];

  beforeAll(async () => {
    database = await start();
    admin = await database.connect();
    const pool = database.open();
    await new SqlLockStore(pool.client).createTable();
    await pool.end();
  });

  afterEach(async () => {
    for (const { locks, end } of opened) await locks.close().then(end);
    opened = [];
  });

  afterAll(async () => {
    await admin.end();
    await database.stop();
  });

  function service(setting?: string): LockService {
    const { client, end } = database.open(setting);
    const locks = new LockService(new SqlLockStore(client), { ttl: 30_000, waitTimeout: 2_000 });
    opened.push({ locks, end });
    return locks;
  }

  it('takes no writes: rejects, and says why', async () => {
    const failed = service(database.readOnly).acquire('order:42');
    await expect(failed).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('takes no writes'),
    });
    expect(await service().inspect('order:42')).toBeUndefined();
  });

  it('has no table: rejects, and says what to do', async () => {
    const { client, end } = database.open();
    const store = new SqlLockStore(client, { table: 'missing' });
    const locks = new LockService(store);
    opened.push({ locks, end });
    await expect(locks.tryAcquire('order:42')).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('createTable()'),
    });
    await store.createTable();
    await (await locks.acquire('order:42')).release();
  });

  it('has its table made by many at the same time: each succeeds', async () => {
    const { client, end } = database.open();
    const stores = Array.from(
      { length: 4 },
      () => new SqlLockStore(client, { table: 'made_anew' }),
    );
    await Promise.all(stores.map((store) => store.createTable()));
    await end();
  });

  it('ends idle connections: they are replaced, and locks go on', async () => {
    const locks = service();
    const lock = await locks.acquire('order:42');
    for (const { id } of await admin.run(database.sessions)) await admin.run(database.kill(id));
    await lock.extend(30_000);
    for (const { id } of await admin.run(database.sessions)) await admin.run(database.kill(id));
    expect(await lock.release()).toBe(true);
  });

  it('ends the connection of a statement under way: it is sent again', async () => {
    const locks = service();
    await (await locks.acquire('order:42')).release();
    const other = await database.connect();
    await other.run('BEGIN');
    await other.run(database.lockRow);
    const waiting = locks.acquire('order:42', { waitTimeout: 10_000 });
    const [session] = await until(async () => {
      const rows = await admin.run(database.waiting);
      return rows.length > 0 ? rows : undefined;
    });
    await admin.run(database.kill(session!['id']));
    await other.run('ROLLBACK');
    await (await inTime(5_000, waiting)).release();
    await other.end();
  });

  it('lets a statement wait for another client for too long: it is sent again', async () => {
    const { client, end } = database.open(database.impatient);
    const locks = new LockService(new SqlLockStore(client));
    await (await locks.acquire('order:42')).release();
    const failures = failuresOf(client);
    const other = await database.connect();
    await other.run('BEGIN');
    await other.run(database.lockRow);
    const waiting = locks.acquire('order:42', { waitTimeout: 10_000, storeTimeout: 10_000 });
    await until(() => failures.length > 0);
    await other.run('COMMIT');
    await (await inTime(5_000, waiting)).release();
    expect(failures).toContain(database.impatience);
    await Promise.all([other.end(), locks.close().then(end)]);
  });

  it('finds a deadlock: what it refuses of the store is sent again, and succeeds', async () => {
    const { client, end } = database.open(database.quick);
    const store = new SqlLockStore(client, { table: 'deadlocked' });
    await store.createTable();
    const held = (await store.tryAcquire(requestFor('held')))!;
    await (await store.tryAcquire(requestFor('free')))!.release();
    const other = await database.connect();
    for (const sql of [database.patient, ...database.block]) await other.run(sql);
    const conflicts = failuresOf(client);
    const asked = Promise.all([held.extend(30_000), store.tryAcquire(requestFor('free'))]);
    await until(async () => (await admin.run(database.blocked)).length === 2);
    await other.run(database.circle);
    await other.run('COMMIT');
    const [isOurs, taken] = await inTime(5_000, asked);
    expect([isOurs, await taken!.release(), await held.release()]).toEqual([true, true, true]);
    expect(conflicts).toContain(database.deadlock);
    await other.end();
    await end();
  });
});

it('A serialization failure of PostgreSQL: the statements of the store are sent again, and succeed', async () => {
  await using server = await PostgresServer.start();
  const pool = openPool(server.url, { options: '-c default_transaction_isolation=serializable' });
  const store = new SqlLockStore({ postgres: pool });
  await store.createTable();
  const held = (await store.tryAcquire(requestFor('held')))!;
  await (await store.tryAcquire(requestFor('free')))!.release();
  const admin = openPool(server.url);
  const other = await admin.connect();
  await other.query('BEGIN');
  await other.query('UPDATE holdfast_locks SET fencing = fencing + 1');
  const conflicts = failuresOf({ postgres: pool });
  const asked = Promise.all([held.extend(30_000), store.tryAcquire(requestFor('free'))]);
  const blocked = `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
  await until(async () => (await admin.query(blocked)).rows.length === 2);
  await other.query('COMMIT');
  const [isOurs, taken] = await inTime(5_000, asked);
  expect([isOurs, await taken!.release(), await held.release()]).toEqual([true, true, true]);
  expect(conflicts.slice(0, 2)).toEqual(['40001', '40001']);
  other.release();
  await Promise.all([admin.end(), pool.end()]);
});

it('An idle session that PostgreSQL ends under a statement: the statement is sent again, and succeeds', async () => {
  await using server = await PostgresServer.start();
  await using proxy = await TcpProxy.start(server.port);
  const options = '-c idle_session_timeout=1500';
  const pool = openPool(server.urlAt(proxy.port), { max: 1, options });
  const store = new SqlLockStore({ postgres: pool });
  await store.createTable();
  const lease = (await store.tryAcquire(requestFor('order:42')))!;
  const failures = failuresOf({ postgres: pool });
  proxy.replies.hold();
  const logged = server.log.length; // no earlier session's end
  await until(() => server.log.includes('idle-session timeout', logged));
  const released = lease.release(); // on a connection whose end the pool has not heard of
  await until(() => pool.totalCount === 1 && pool.idleCount === 0);
  proxy.pass();
  expect(await inTime(5_000, released)).toBe(true);
  expect(failures).toEqual(['57P05']);
  await pool.end();
});

describe('A table on PostgreSQL', () => {
  it.each(['23505', '42710', '42P07'])(
    'may be made by another at the same moment, which the server says with %s',
    async (code) => {
      const query = jest.fn().mockRejectedValue(Object.assign(new Error('it exists'), { code }));
      await new SqlLockStore({ postgres: { query } }).createTable();
      expect(query).toHaveBeenCalledTimes(1);
    },
  );
});

describe('A failure', () => {
  it.each([
    ['conflict', { code: '40001' }],
    ['conflict', { code: 'ER_CHECKREAD', errno: 1020 }],
    ['conflict', { code: 'ERR_SQLITE_ERROR', errcode: 517 }],
    ['connection', { code: '57P01' }],
    ['connection', { code: '57P05' }],
    ['connection', { code: '53300' }],
    ['connection', { code: 'ER_CLIENT_INTERACTION_TIMEOUT', errno: 4031 }],
    ['connection', { code: 'ER_CON_COUNT_ERROR', errno: 1040 }],
    ['connection', { code: '08006' }],
    ['connection', { code: 'ECONNRESET', errno: -104 }],
    ['connection', { code: 'PROTOCOL_CONNECTION_LOST' }],
    ['connection', new Error('Connection terminated unexpectedly')],
    ['read-only', { code: 'ER_OPTION_PREVENTS_STATEMENT', errno: 1290 }],
    ['read-only', { code: 'SQLITE_READONLY_DBMOVED' }],
    ['no-table', { code: 'ERR_SQLITE_ERROR', errcode: 1, message: 'no such table: x' }],
    ['other', { code: '42601' }],
    ['other', new Error('timeout exceeded when trying to connect')],
    ['other', undefined],
  ])('is a %s: %p', (kind, error) => expect(failureKind(error)).toBe(kind));
});
