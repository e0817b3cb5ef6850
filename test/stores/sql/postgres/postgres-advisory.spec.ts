import { lockInTransaction, tryLockInTransaction } from 'nest-holdfast/sql';
import { Client } from 'pg';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
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

  it.each(['REPEATABLE READ', 'SERIALIZABLE'])(
    'refuses a transaction that is %s, which would see the past under the lock',
    async (level) => {
      await one.query('ROLLBACK');
      await one.query(`BEGIN ISOLATION LEVEL ${level}`);
      const refusal = { name: 'TypeError', message: expect.stringContaining(`got ${level}`) };
      await expect(lockInTransaction(one, 'order:42')).rejects.toMatchObject(refusal);
      await expect(tryLockInTransaction(one, 'order:42')).rejects.toMatchObject(refusal);
      expect(await tryLockInTransaction(two, 'order:42')).toBe(true);
    },
  );

  it('sees under the lock what the holder before has written', async () => {
    await two.query('ROLLBACK');
    await two.query('CREATE TABLE IF NOT EXISTS once (id int)');
    const once = async (tx: Client) => {
      await tx.query('BEGIN');
      await lockInTransaction(tx, 'once');
      const { rows } = await tx.query('SELECT FROM once');
      if (rows.length === 0) await tx.query('INSERT INTO once VALUES (1)');
      await tx.query('COMMIT');
    };
    await one.query('ROLLBACK');
    await Promise.all([once(one), once(two)]);
    expect((await one.query('DELETE FROM once')).rowCount).toBe(1);
  });

  it('is freed, too, by the way back to a savepoint from before it, and not by one from behind it', async () => {
    await lockInTransaction(one, 'outer');
    await one.query('SAVEPOINT nested');
    await lockInTransaction(one, 'inner');
    await one.query('ROLLBACK TO SAVEPOINT nested');
    expect(await tryLockInTransaction(two, 'inner')).toBe(true);
    expect(await tryLockInTransaction(two, 'outer')).toBe(false);
  });

  it.each([
    null,
    undefined,
    [],
    {},
    [{}],
    { rows: [] },
    { rows: [{ a: 1 }] },
    [{ a: 1, b: 2, c: 3 }],
  ])('takes no answer for a lock that is none: %j', async (answer) => {
    const tx = { query: () => Promise.resolve(answer) };
    await expect(lockInTransaction(tx, 'order:42')).rejects.toThrow('not understood');
    await expect(tryLockInTransaction(tx, 'order:42')).rejects.toThrow('not understood');
  });

  it('takes any key, and connections that answer with the rows alone', async () => {
    const rowsOf = { query: async (sql: string, values?: unknown[]) => (await one.query(sql, values)).rows }; // prettier-ignore
    for (const key of [`it's`, '\0', '漢字', 'x'.repeat(10_000)])
      expect(await tryLockInTransaction(rowsOf, key)).toBe(true);
    await expect(lockInTransaction(one, '')).rejects.toThrow(TypeError);
  });
});
