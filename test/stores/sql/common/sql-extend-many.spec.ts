import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import type { AcquireRequest, Lease } from 'nest-holdfast';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { openPool } from '../postgres/postgres-pool.js';

const COUNT = 250;

interface Bench {
  readonly client: SqlClient;
  /** The statements that the store has sent, or that it has committed. */
  readonly statements: string[];
  /** Locks the row of a key in another client's transaction, until the function that it resolves with is called. */
  readonly lockRow: ((key: string) => Promise<() => Promise<unknown>>) | undefined;
  readonly stop: () => Promise<void>;
}

async function postgres(): Promise<Bench> {
  const server = await PostgresServer.shared();
  const pool = openPool(server.url, { max: 8 });
  const statements: string[] = [];
  const query = (asked: { readonly text: string }) => {
    statements.push(asked.text);
    return pool.query(asked as never);
  };
  return {
    client: { postgres: { query } },
    statements,
    lockRow: async (key) => {
      const other = await pool.connect();
      await other.query('BEGIN');
      await other.query(`SELECT FROM holdfast_locks WHERE "key" = $1 FOR UPDATE`, [
        Buffer.from(key),
      ]);
      return async () => {
        await other.query('ROLLBACK');
        other.release();
      };
    },
    stop: async () => {
      await pool.end();
      await server.stop();
    },
  };
}

async function sqlite(): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-extend-'));
  const database = new Database(join(folder, 'locks.db'));
  const statements: string[] = [];
  const exec = (sql: string) => {
    if (sql === 'COMMIT') statements.push(sql);
    return database.exec(sql);
  };
  return {
    client: { sqlite: { prepare: (sql: string) => database.prepare(sql), exec } },
    statements,
    lockRow: undefined, // the file is locked as a whole
    stop: async () => {
      database.close();
      await rm(folder, { recursive: true });
    },
  };
}

const aRequest = (index: number): AcquireRequest => ({
  key: `order:${index}`,
  keys: [`order:${index}`],
  token: crypto.randomUUID(),
  ttl: 30_000,
});

describe.each([
  ['PostgreSQL', postgres],
  ['SQLite', sqlite],
])('SqlLockStore.extendMany on %s', (_, open) => {
  let bench: Bench;
  let store: SqlLockStore;

  beforeEach(async () => {
    bench = await open();
    store = new SqlLockStore(bench.client);
    await store.createTable();
  });

  afterEach(() => bench.stop());

  async function take(count: number): Promise<Lease[]> {
    const leases = [];
    for (let index = 0; index < count; index++)
      leases.push((await store.tryAcquire(aRequest(index)))!);
    bench.statements.length = 0;
    return leases;
  }

  const remaining = async (index: number) =>
    (await store.inspect(`order:${index}`))?.remaining ?? 0;

  it('takes one statement for all', async () => {
    const leases = await take(COUNT);
    expect(await store.extendMany!(leases, 60_000)).toEqual(new Map());
    expect(bench.statements).toHaveLength(1);
    for (const index of [0, 99, 249]) expect(await remaining(index)).toBeGreaterThan(30_000);
  });

  it('tells which were lost, and extends the others', async () => {
    const leases = await take(5);
    await leases[1]!.release();
    await leases[3]!.release();
    await store.tryAcquire(aRequest(3));
    expect(await store.extendMany!(leases, 60_000)).toEqual(
      new Map([1, 3].map((index) => [leases[index]!, false])),
    );
    for (const index of [0, 2, 4]) expect(await remaining(index)).toBeGreaterThan(30_000);
    expect(await remaining(3)).toBeLessThanOrEqual(30_000);
  });

  it('extends rows that no foreign transaction has locked', async () => {
    if (!bench.lockRow) return;
    const leases = await take(20);
    const free = await bench.lockRow('order:7');
    const exceptions = await store.extendMany!(leases, 31_000);
    expect([...exceptions.keys()]).toEqual([leases[7]]);
    expect(exceptions.get(leases[7]!)).toMatchObject({ message: 'no answer within 3100 ms' });
    for (const index of [6, 8]) expect(await remaining(index)).toBeGreaterThan(24_000);
    await free();
    expect(await store.extendMany!(leases, 60_000)).toEqual(new Map());
    expect(await remaining(7)).toBeGreaterThan(30_000);
  });
});

it('SqlLockStore has no extendMany on MySQL and MariaDB, where a locked row would hold up the others', () => {
  const store = new SqlLockStore({
    mysql: { query: () => Promise.reject(new Error('not asked')) },
  });
  expect(store.extendMany).toBeUndefined();
});
