import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import type { AcquireRequest } from 'nest-holdfast';
import { LockService } from 'nest-holdfast';
import { SqlLockStore, lockTableDdl } from 'nest-holdfast/sql';
import { createPool } from 'mysql2/promise';
import { MysqlTable } from '../../../../lib/stores/sql/mysql/mysql-table.js';
import { PostgresTable } from '../../../../lib/stores/sql/postgres/postgres-table.js';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { until } from '../../../support/until.js';
import { openPool } from '../postgres/postgres-pool.js';

/** Keys that a collation, a padding or a cut would take for one. */
const ALIKE = [
  'a',
  'A',
  'á',
  'a ',
  ' a',
  'a\0',
  'a\0\0',
  'a\t',
  'Å',
  'A\u030A',
  'ß',
  'ss',
  'ﬀ',
  'ff',
];
const LONG = ['x', 'y'].map((end) => 'k'.repeat(511) + end);

/** Any text that has a UTF-8 form and fits. */
const anyKey = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 100 })
  .filter((key) => key.isWellFormed() && Buffer.byteLength(key) <= 512);

async function postgres() {
  const server = await PostgresServer.shared();
  const pool = openPool(server.url, { max: 4 });
  const quoted = '"holdfast_locks"';
  return {
    server,
    client: { postgres: pool },
    table: new PostgresTable(pool, { quoted, channel: 'holdfast_locks', ddl: '', prepare: false }),
    run: async (sql: string) => (await pool.query(sql)).rows as object[],
    end: () => pool.end(),
    dialect: 'postgres' as const,
    aDay: `interval '1 day'`,
    noSuchTable: '42P01',
  };
}

async function mariaDb() {
  const server = await MariaDbServer.shared();
  const pool = createPool({ uri: server.url, connectionLimit: 4 });
  return {
    server,
    client: { mysql: pool },
    table: new MysqlTable(pool, '`holdfast_locks`', ''),
    run: async (sql: string) => (await pool.query(sql))[0] as object[],
    end: () => pool.end(),
    dialect: 'mysql' as const,
    aDay: 'INTERVAL 1 DAY',
    noSuchTable: 'ER_NO_SUCH_TABLE',
  };
}

describe.each([
  ['PostgreSQL', postgres],
  ['MariaDB', mariaDb],
] as const)('The rows of locks in %s', (_, start) => {
  let database: Awaited<ReturnType<typeof postgres>> | Awaited<ReturnType<typeof mariaDb>>;
  let store: SqlLockStore;
  let locks: LockService;

  beforeAll(async () => {
    database = await start();
    await database.run(lockTableDdl(database.dialect));
    store = new SqlLockStore(database.client);
    locks = new LockService(store, { ttl: 30_000, waitTimeout: 2_000 });
  });

  beforeEach(() => database.run('DELETE FROM holdfast_locks'));

  afterEach(() => jest.restoreAllMocks());

  afterAll(async () => {
    await locks.close();
    await database.end();
    await database.server.stop();
  });

  const requestFor = (key: string): AcquireRequest => ({ key, keys: [key], token: randomUUID(), ttl: 30_000 }); // prettier-ignore

  it('keep keys apart that look alike', async () => {
    const keys = [...ALIKE, ...LONG];
    const leases = [];
    for (const key of keys) leases.push(await store.tryAcquire(requestFor(key)));
    expect(leases.map((lease) => lease !== undefined)).toEqual(keys.map(() => true));
    for (const key of keys) expect(await store.tryAcquire(requestFor(key))).toBeUndefined();
    for (const lease of leases) expect(await lease!.release()).toBe(true);
  });

  it('take any key, quotes included', async () => {
    const quoted = [`it's`, '"', '`', '\\', "\\'", '; --', '\u0000', '\n', '$1', '?', ':a', '%s'];
    const property = fc.asyncProperty(anyKey, async (key) => {
      await locks.withLock(key, async (lock) => {
        expect(await locks.inspect(key)).toMatchObject({ key, fencingToken: lock.fencingToken });
      });
      expect(await locks.inspect(key)).toBeUndefined();
    });
    await fc.assert(property, { numRuns: 40, examples: quoted.map((key) => [key]) });
  });

  it('tell the holder, with any name, and for how long it holds', async () => {
    for (const holder of [`host'); DROP TABLE holdfast_locks; --`, '漢字\\', undefined]) {
      const lease = await store.tryAcquire({
        ...requestFor('order:42'),
        ...(holder && { holder }),
      });
      const seen = await store.inspect('order:42');
      expect(seen).toMatchObject({ key: 'order:42', fencingToken: lease!.fencingToken });
      expect(seen!.holder).toBe(holder);
      expect(seen!.remaining).toBeGreaterThan(25_000);
      await lease!.release();
    }
  });

  it('are removed when they have been free for a day, unless their tokens are ahead of the clock', async () => {
    for (const key of ['old', 'held', 'new', 'ahead']) await (await locks.acquire(key)).release();
    const held = await locks.acquire('held');
    await database.run(`UPDATE holdfast_locks SET expires_at = expires_at - ${database.aDay}`);
    await locks.withLock('new', async () => {});
    await database.run(`UPDATE holdfast_locks SET expires_at = expires_at + ${database.aDay} WHERE token IS NOT NULL`); // prettier-ignore
    const ahead = database.dialect === 'mysql' ? "'ahead'" : "'ahead'::bytea";
    const key = database.dialect === 'mysql' ? '`key`' : 'key';
    await database.run(`UPDATE holdfast_locks SET fencing = fencing + 100000000000 WHERE ${key} = ${ahead}`); // prettier-ignore
    expect(await until(() => database.table.sweep(1_000))).toBe(1); // 'old' must be more than a day old
    const rows = await database.run(`SELECT ${key} FROM holdfast_locks`);
    expect(rows.map((row) => String(Object.values(row)[0])).toSorted()).toEqual(['ahead', 'held', 'new']); // prettier-ignore
    await held.release();
  });

  it('do not go back in their tokens when they are removed', async () => {
    const first = await locks.acquire('order:42');
    await first.release();
    await database.run('DELETE FROM holdfast_locks');
    const second = await locks.acquire('order:42');
    expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
    await second.release();
  });

  it.each([3_600_000, -3_600_000])(
    'go by the clock of the database alone: that of a process is wrong by %i ms',
    async (error) => {
      const ttl = 500;
      const first = await store.tryAcquire({ ...requestFor('order:42'), ttl });
      for (const clock of [Date, performance]) {
        const now = clock.now.bind(clock);
        jest.spyOn(clock, 'now').mockImplementation(() => now() + error);
      }
      const wrong = new SqlLockStore(database.client);
      expect(await wrong.tryAcquire(requestFor('order:42'))).toBeUndefined();
      const second = await until(() => wrong.tryAcquire(requestFor('order:42')));
      jest.restoreAllMocks();
      const grown = second.fencingToken! - first!.fencingToken!;
      expect(grown).toBeGreaterThan(BigInt((ttl - 100) * 1_000)); // microseconds
      expect(grown).toBeLessThan(30_000_000n);
      const { remaining } = (await store.inspect('order:42'))!;
      expect(remaining).toBeGreaterThan(20_000);
      expect(remaining).toBeLessThanOrEqual(30_000);
      expect(await store.tryAcquire(requestFor('order:42'))).toBeUndefined();
      expect(await second.release()).toBe(true);
    },
  );

  it('live in a table of another name, in another schema', async () => {
    await database.run('CREATE SCHEMA IF NOT EXISTS app');
    const options = { schema: 'app', table: 'My_Locks' };
    const own = new SqlLockStore(database.client, options);
    await expect(own.inspect('order:42')).rejects.toMatchObject({ cause: { code: database.noSuchTable } }); // prettier-ignore
    await own.createTable();
    await own.createTable();
    const lease = await own.tryAcquire(requestFor('order:42'));
    expect(await store.inspect('order:42')).toBeUndefined();
    expect(await own.inspect('order:42')).toMatchObject({ fencingToken: lease!.fencingToken });
    expect(await lease!.release()).toBe(true);
  });
});
