import { lockInTransaction, tryLockInTransaction } from 'nest-holdfast/sql';
import { Client } from 'pg';
import { PostgresServer } from '../support/postgres-server.js';
import { openPool } from './postgres-pool.js';

describe('lockInTransaction', () => {
  let server: PostgresServer;
  let one: Client;
  let two: Client;

  beforeAll(async () => {
    server = await PostgresServer.shared();
    [one, two] = [new Client(server.url), new Client(server.url)];
    await Promise.all([one.connect(), two.connect()]);
  });

  beforeEach(() => Promise.all([one.query('BEGIN'), two.query('BEGIN')]));
  afterEach(() => Promise.all([one.query('ROLLBACK'), two.query('ROLLBACK')]));

  afterAll(async () => {
    await Promise.all([one.end(), two.end()]);
    await server.stop();
  });

  it('ends with the transaction, whether it commits or not', async () => {
    for (const end of ['COMMIT', 'ROLLBACK']) {
      await lockInTransaction(one, 'order:42');
      expect(await tryLockInTransaction(two, 'order:42')).toBe(false);
      expect(await tryLockInTransaction(two, 'order:43')).toBe(true);
      const waiting = lockInTransaction(two, 'order:42').then(() => 'taken');
      expect(await Promise.race([waiting, one.query('SELECT 1').then(() => 'held')])).toBe('held');
      await one.query(end);
      expect(await waiting).toBe('taken');
      await two.query('COMMIT');
      await Promise.all([one.query('BEGIN'), two.query('BEGIN')]);
    }
  });

  it('refuses a connection without a transaction, whose lock would be gone at once', async () => {
    await one.query('COMMIT');
    await expect(lockInTransaction(one, 'order:42')).rejects.toThrow('inside a transaction');
    const pool = openPool(server.url, { max: 1 });
    await expect(tryLockInTransaction(pool, 'order:42')).rejects.toThrow(TypeError);
    await pool.end();
  });

  it('takes any key, and connections that answer with the rows alone', async () => {
    const rowsOf = { query: async (sql: string, values?: unknown[]) => (await one.query(sql, values)).rows }; // prettier-ignore
    for (const key of [`it's`, '\0', '漢字', 'x'.repeat(10_000)])
      expect(await tryLockInTransaction(rowsOf, key)).toBe(true);
    await expect(lockInTransaction(one, '')).rejects.toThrow(TypeError);
  });
});
