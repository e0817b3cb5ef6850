import { createPool } from 'mysql2/promise';
import type {
  Pool as MySqlPool,
  QueryResult,
  ResultSetHeader,
  RowDataPacket,
} from 'mysql2/promise';
import { Pool } from 'pg';
import {
  type FencedHolder,
  FencedRowMissingError,
  LockStaleError,
  fenceColumnDdl,
  fenced,
} from '../../lib/fencing/index.js';
import { MariaDbServer } from '../support/servers/mariadb-server.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { until } from '../support/until.js';

const of = (fencingToken: bigint): FencedHolder => ({ key: 'account:7', fencingToken });
/** Next to each other, and equal in floating point. */
const [EVEN, ODD] = [2n ** 53n, 2n ** 53n + 1n];
const LARGEST = 2n ** 63n - 1n;

interface Database {
  /** Sets the balance of account 7, which is open, in one step with the fence. */
  write(holder: FencedHolder, balance: number, id?: number): Promise<boolean>;
  balance(): Promise<number>;
  reset(): Promise<unknown>;
  /** Holds the row with `holder`'s update, until the function that comes back is called. */
  hold(holder: FencedHolder): Promise<() => Promise<void>>;
  /** Resolves when a client waits for a row. */
  hasWaiter(): Promise<unknown>;
}

const TABLE = (dialect: 'pg' | 'mysql') =>
  `CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL, state VARCHAR(9), ${fenceColumnDdl(dialect)})`;
const ROW = "INSERT INTO account (id, balance, state) VALUES (7, 0, 'open')";

describe('On PostgreSQL', () => {
  let server: PostgresServer;
  let pool: Pool;

  beforeAll(async () => {
    server = await PostgresServer.shared();
    pool = new Pool({ connectionString: server.url });
    pool.on('error', () => {}); // a connection that is still closing when the server stops
    await pool.query(TABLE('pg'));
  });

  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  behavesAsFenced(() => database(pool));

  it('raises the fence and reads, in one step', async () => {
    await database(pool).reset();
    const fence = fenced.pg(of(2n));
    const raise = `UPDATE account SET ${fence.set} WHERE id = $2 AND ${fence.where} RETURNING balance`;
    const { rows } = await pool.query<{ balance: number }>(raise, [fence.value, 7]);
    expect(rows).toEqual([{ balance: 0 }]);
    await expect(database(pool).write(of(1n), 10)).rejects.toThrow(LockStaleError);
  });

  it('inserts or updates, in one step', async () => {
    await pool.query('DELETE FROM account');
    const upsert = async (holder: FencedHolder, balance: number) => {
      const fence = fenced.pg(holder);
      const insert = `INSERT INTO account AS a (id, balance, fence) VALUES ($2, $3, $1)
        ON CONFLICT (id) DO UPDATE SET balance = $3, ${fence.set} WHERE a.${fence.where}`;
      const result = await pool.query(insert, [fence.value, 7, balance]);
      return fence.assertWritten(result, async () => {
        const select = `SELECT ${fence.select} FROM account WHERE id = 7`;
        return (await pool.query(select)).rows[0] as object | undefined;
      });
    };
    expect(await upsert(of(1n), 10)).toBe(true);
    expect(await upsert(of(3n), 30)).toBe(true);
    await expect(upsert(of(2n), 20)).rejects.toThrow(LockStaleError);
    expect(await database(pool).balance()).toBe(30);
  });

  it('says that a column may not be nullable', async () => {
    await pool.query('ALTER TABLE account ADD COLUMN nullable BIGINT');
    await database(pool).reset();
    const fence = fenced.pg(of(1n), { column: 'nullable' });
    const update = `UPDATE account SET ${fence.set} WHERE id = $2 AND ${fence.where}`;
    const result = await pool.query(update, [fence.value, 7]);
    const read = async () =>
      (await pool.query(`SELECT ${fence.select} FROM account`)).rows[0] as object;
    await expect(fence.assertWritten(result, read)).rejects.toThrow('BIGINT NOT NULL');
  });

  function database(connections: Pool): Database {
    const write = async (
      connection: Pick<Pool, 'query'>,
      holder: FencedHolder,
      balance: number,
      id: number,
    ) => {
      const fence = fenced.pg(holder, { at: 3 });
      const update = `UPDATE account SET balance = $1, ${fence.set} WHERE id = $2 AND state = 'open' AND ${fence.where}`;
      const result = await connection.query(update, [balance, id, fence.value]);
      return fence.assertWritten(result, async () => {
        const select = `SELECT ${fence.select} FROM account WHERE id = $1`;
        return (await connection.query(select, [id])).rows[0] as object | undefined;
      });
    };
    return {
      write: (holder, balance, id = 7) => write(connections, holder, balance, id),
      balance: async () =>
        (await connections.query<{ balance: number }>('SELECT balance FROM account')).rows[0]!
          .balance,
      async reset() {
        await connections.query('TRUNCATE account');
        await connections.query(ROW);
      },
      async hold(holder) {
        const client = await connections.connect();
        await client.query('BEGIN');
        await write(client, holder, 1, 7);
        return async () => {
          await client.query('COMMIT');
          client.release();
        };
      },
      hasWaiter: () =>
        until(async () => {
          const waiting = await connections.query('SELECT 1 FROM pg_locks WHERE NOT granted');
          return waiting.rowCount;
        }),
    };
  }
});

describe('On MariaDB', () => {
  let server: MariaDbServer;
  let pool: MySqlPool;

  beforeAll(async () => {
    server = await MariaDbServer.shared();
    pool = createPool(server.url);
    await pool.query(TABLE('mysql'));
  });

  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  describe.each(['query', 'execute'] as const)('by %s', (method) => {
    behavesAsFenced(() => database(pool, method));
  });

  it('counts rows that it did not have to change', async () => {
    await database(pool, 'query').reset();
    expect(await database(pool, 'query').write(of(1n), 10)).toBe(true);
    expect(await database(pool, 'query').write(of(1n), 10)).toBe(true);
  });

  it('takes a row for written, where it counts changed rows only, or says that nothing stood against it', async () => {
    const changed = createPool({ uri: server.url, flags: ['-FOUND_ROWS'] });
    await database(changed, 'query').reset();
    expect(await database(changed, 'query').write(of(1n), 10)).toBe(true);
    expect(await database(changed, 'query').write(of(1n), 10)).toBe(false);
    await changed.end();
  });

  it('tells a stale write inside a transaction that began before the newer one, by FOR UPDATE', async () => {
    await database(pool, 'query').reset();
    const connection = await pool.getConnection();
    try {
      await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
      await database(pool, 'query').write(of(2n), 20);
      const fence = fenced.mysql(of(1n));
      const update = `UPDATE account SET balance = 10, ${fence.set} WHERE id = 7 AND ${fence.where}`;
      const result = await connection.query<ResultSetHeader>(update, [fence.value, fence.value]);
      const read = async () => {
        const select = `SELECT ${fence.select} FROM account WHERE id = 7 FOR UPDATE`;
        return (await connection.query<RowDataPacket[]>(select))[0][0];
      };
      await expect(fence.assertWritten(result, read)).rejects.toThrow(LockStaleError);
    } finally {
      await connection.rollback();
      connection.release();
    }
  });

  function database(connections: MySqlPool, method: 'query' | 'execute'): Database {
    type Connection = Pick<MySqlPool, 'query' | 'execute'>;
    const run = <T extends QueryResult>(
      connection: Connection,
      sql: string,
      values: (string | number)[],
    ) =>
      method === 'query' ? connection.query<T>(sql, values) : connection.execute<T>(sql, values);
    const write = async (
      connection: Connection,
      holder: FencedHolder,
      balance: number,
      id: number,
    ) => {
      const fence = fenced.mysql(holder);
      const update = `UPDATE account SET balance = ?, ${fence.set} WHERE id = ? AND state = 'open' AND ${fence.where}`;
      const values = [balance, fence.value, id, fence.value];
      const result = await run<ResultSetHeader>(connection, update, values);
      return fence.assertWritten(result, async () => {
        const select = `SELECT ${fence.select} FROM account WHERE id = ?`;
        return (await run<RowDataPacket[]>(connection, select, [id]))[0][0];
      });
    };
    return {
      write: (holder, balance, id = 7) => write(connections, holder, balance, id),
      balance: async () =>
        (await connections.query<RowDataPacket[]>('SELECT balance FROM account'))[0][0]![
          'balance'
        ] as number,
      async reset() {
        await connections.query('TRUNCATE account');
        await connections.query(ROW);
      },
      async hold(holder) {
        const connection = await connections.getConnection();
        await connection.beginTransaction();
        await write(connection, holder, 1, 7);
        return async () => {
          await connection.commit();
          connection.release();
        };
      },
      hasWaiter: () =>
        until(
          async () => {
            const query =
              "SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'";
            return (await connections.query<RowDataPacket[]>(query))[0].length;
          },
          { every: 150 }, // the table is filled anew only when it was not read for 100 ms
        ),
    };
  }
});

function behavesAsFenced(database: () => Database): void {
  beforeEach(() => database().reset());

  it('lets the same token write again, and larger ones, and refuses smaller ones', async () => {
    expect(await database().write(of(5n), 10)).toBe(true);
    expect(await database().write(of(5n), 20)).toBe(true);
    expect(await database().write(of(7n), 30)).toBe(true);
    const late = database().write(of(6n), 40);
    await expect(late).rejects.toThrow(LockStaleError);
    await expect(late).rejects.toMatchObject({ key: 'account:7', fencingToken: 6n, newest: 7n });
    expect(await database().balance()).toBe(30);
  });

  it('compares exactly where floating point does not, up to 64 bits', async () => {
    expect(await database().write(of(ODD), 10)).toBe(true);
    await expect(database().write(of(EVEN), 20)).rejects.toMatchObject({ newest: ODD });
    expect(await database().write(of(LARGEST), 30)).toBe(true);
    const late = database().write(of(LARGEST - 1n), 40);
    await expect(late).rejects.toMatchObject({ newest: LARGEST });
  });

  it('tells a missing row, and one that another condition kept from being written', async () => {
    await expect(database().write(of(1n), 10, 8)).rejects.toThrow(FencedRowMissingError);
    await database().write(of(1n), 10);
    expect(await database().balance()).toBe(10);
  });

  it('refuses a stale write that had to wait for the newer one', async () => {
    const commit = await database().hold(of(2n));
    const late = database().write(of(1n), 10);
    const refused = expect(late).rejects.toThrow(LockStaleError);
    try {
      await database().hasWaiter();
    } finally {
      await commit();
    }
    await refused;
    expect(await database().balance()).toBe(1);
  });
}
