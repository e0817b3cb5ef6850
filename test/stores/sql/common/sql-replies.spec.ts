import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createPool } from 'mysql2/promise';
import { type AcquireRequest, LockService } from 'nest-holdfast';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import { rejectionOf } from '../../../core/support/outcome.js';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { until } from '../../../support/until.js';
import { openPool } from '../postgres/postgres-pool.js';

const KEY = 'order:42';

/** A database behind a driver that says something else once. */
interface Bench {
  readonly client: SqlClient;
  /** The next statement is run, and something else is said of it. */
  answerNext(answer: unknown): void;
  /** Replies that the driver never gives. */
  readonly wrong: readonly unknown[];
  readonly stop: () => Promise<void>;
}

const ROWS: readonly unknown[] = [undefined, null, true, 1, 'OK', {}, [1], ['a'], [null]];
const WRONG_ROWS = [...ROWS, [{}], [{ a: 1, b: 2, c: 3, d: 4, e: 5 }], [{ a: {} }, { a: {} }]];

/** A function that once answers something else. */
function liar<Args extends unknown[]>(run: (...args: Args) => unknown) {
  let lie: { readonly answer: unknown } | undefined;
  return {
    answerNext: (answer: unknown) => void (lie = { answer }),
    run: (...args: Args): unknown => {
      const result = run(...args);
      if (!lie) return result;
      const { answer } = lie;
      lie = undefined;
      return result instanceof Promise ? result.then(() => answer) : answer;
    },
  };
}

async function onPostgres(): Promise<Bench> {
  const server = await PostgresServer.shared();
  const pool = openPool(server.url);
  const { run, answerNext } = liar((query: object) => pool.query(query as never));
  return {
    client: { postgres: { query: run as never } },
    answerNext,
    wrong: [undefined, null, 'OK', [], ...WRONG_ROWS.map((rows) => ({ rows }))],
    stop: async () => {
      await pool.end();
      await server.stop();
    },
  };
}

async function onMariaDb(): Promise<Bench> {
  const server = await MariaDbServer.shared();
  const pool = createPool(server.url);
  const { run, answerNext } = liar((sql: string, values: unknown[]) => pool.query(sql, values));
  const headers = [
    {},
    'OK',
    { affectedRows: 1 },
    { insertId: 1 },
    { affectedRows: 'x', insertId: 1 },
  ];
  const numbers = [
    { affectedRows: 2.5, insertId: 0 },
    { affectedRows: null, insertId: null },
  ];
  return {
    client: { mysql: { query: run as never } },
    answerNext,
    wrong: [
      ...ROWS,
      [undefined],
      [null],
      ['OK'],
      ...[...headers, ...numbers].map((each) => [each]),
    ],
    stop: async () => {
      await pool.end();
      await server.stop();
    },
  };
}

async function onSqlite(): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-replies-'));
  const database = new Database(join(folder, 'locks.db'));
  const { run, answerNext } = liar((statement: Database.Statement, values: unknown[]) =>
    statement.all(...values),
  );
  const prepare = (text: string) => {
    const statement = database.prepare(text);
    const isOurs = !text.startsWith('PRAGMA');
    return {
      all: (...values: unknown[]) => (isOurs ? run(statement, values) : statement.all(...values)),
    };
  };
  const exec = (text: string) => database.exec(text);
  return {
    client: { sqlite: { prepare, exec } as never },
    answerNext,
    wrong: WRONG_ROWS,
    stop: async () => {
      database.close();
      await rm(folder, { recursive: true });
    },
  };
}

const request = (permits?: number): AcquireRequest => ({
  key: KEY,
  keys: [KEY],
  token: randomUUID(),
  ttl: 30_000,
  ...(permits !== undefined && { permits }),
});

describe.each([
  ['PostgreSQL', onPostgres],
  ['MariaDB', onMariaDb],
  ['SQLite', onSqlite],
] as const)('An answer that no statement of SqlLockStore gets: %s', (_, open) => {
  let bench: Bench;
  let store: SqlLockStore;
  let locks: LockService;

  beforeAll(async () => {
    bench = await open();
    store = new SqlLockStore(bench.client, { listen: false });
    await store.createTable();
    locks = new LockService(store, { ttl: 30_000 });
  });

  afterAll(async () => {
    await locks.close();
    await bench.stop();
  });

  /** Asks the same thing once for each wrong answer. */
  const forEach = async (ask: (lie: () => void, text: string) => Promise<void>): Promise<void> => {
    for (const answer of bench.wrong) await ask(() => bench.answerNext(answer), String(answer));
  };
  const isFree = () => until(async () => (await store.inspect(KEY)) === undefined);
  const UNKNOWN = { code: 'LOCK_STORE_FAILED', cause: { name: 'UnknownAnswerError' } };

  it('is no lock, and what was taken is given back', () =>
    forEach(async (lie) => {
      lie();
      expect(await rejectionOf(locks.tryAcquire(KEY))).toMatchObject(UNKNOWN);
      await isFree();
    }));

  it('is no permit', () =>
    forEach(async (lie) => {
      lie();
      expect(await rejectionOf(locks.tryAcquire(KEY, { permits: 2 }))).toMatchObject(UNKNOWN);
      await isFree();
    }));

  it.each([undefined, 2])('confirms no extension (permits: %s)', (permits) =>
    forEach(async (lie) => {
      const lock = await locks.acquire(KEY, { permits });
      lie();
      expect(await rejectionOf(lock.extend(30_000))).toMatchObject(UNKNOWN);
      expect(lock.isHeld).toBe(true);
      expect(await lock.release()).toBe(true);
    }),
  );

  it.each([undefined, 2])('confirms no release (permits: %s)', (permits) =>
    forEach(async (lie) => {
      const lease = (await store.tryAcquire(request(permits)))!;
      lie();
      expect(await rejectionOf(lease.release())).toMatchObject({ name: 'UnknownAnswerError' });
      await lease.release(); // on SQLite, the transaction was rolled back
      await isFree();
    }),
  );

  it('is no inspection', () =>
    forEach(async (lie) => {
      lie();
      expect(await rejectionOf(locks.inspect(KEY))).toMatchObject(UNKNOWN);
    }));
});

describe('An answer that no statement of the line of PostgreSQL gets', () => {
  let bench: Bench;
  let server: PostgresServer;
  let store: SqlLockStore;

  beforeAll(async () => {
    server = await PostgresServer.shared();
    bench = await onPostgres();
    const { Client } = jest.requireActual<typeof import('pg')>('pg');
    store = new SqlLockStore(bench.client, { listen: () => new Client(server.url) });
    await store.createTable();
  });

  afterAll(async () => {
    await store.close();
    await bench.stop();
    await server.stop();
  });

  it('is no lock for one who waits, who has left the line', async () => {
    for (const answer of [...bench.wrong, { rows: [] }]) {
      bench.answerNext(answer);
      const waited = rejectionOf(store.acquire!(request(), new AbortController().signal));
      expect(await waited).toMatchObject({ name: 'UnknownAnswerError' });
      expect(await store.inspect(KEY)).toBeUndefined();
    }
  });

  it('passes nothing on, and frees the key', async () => {
    for (const answer of bench.wrong) {
      const lease = (await store.tryAcquire(request()))!;
      bench.answerNext(answer);
      const passed = lease.handOff!(30_000, true) as Promise<unknown>;
      expect(await rejectionOf(passed)).toMatchObject({ name: 'UnknownAnswerError' });
      await until(async () => (await store.inspect(KEY)) === undefined);
    }
  });
});
