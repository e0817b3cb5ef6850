import { createHash } from 'node:crypto';
import { columnsOf } from './lock-table.js';

/** A connection on which a transaction is open: a `pg.Client`, or what wraps one (TypeORM's `QueryRunner` answers with the rows). */
export interface PostgresTransaction {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** When the transaction began: the same for all its statements. Outside of one, each statement is a transaction of its own. */
const BEGUN = 'SELECT now()::text AS begun';

/**
 * PostgreSQL: takes the key for the rest of the transaction, and waits for it. Freed by the COMMIT or ROLLBACK, and by nothing
 * else: no ttl, no fencing token, no `signal`, and the connection is in use for as long. Not excluded by locks of a
 * `SqlLockStore`, which are rows. How long it waits is up to `lock_timeout`.
 *
 * Rejects with a `TypeError` when no transaction is open, and with the error of the driver.
 */
export async function lockInTransaction(tx: PostgresTransaction, key: string): Promise<void> {
  await ask(tx, `pg_advisory_xact_lock($1::bigint)::text`, key);
}

/** As `lockInTransaction`, without waiting. Resolves `false` when another transaction has the key. */
export async function tryLockInTransaction(tx: PostgresTransaction, key: string): Promise<boolean> {
  return (await ask(tx, `pg_try_advisory_xact_lock($1::bigint)::text`, key)) === 'true';
}

async function ask(tx: PostgresTransaction, lock: string, key: string): Promise<unknown> {
  if (typeof tx?.query !== 'function') {
    throw new TypeError('tx must be a connection with a method `query(text, values)`');
  }
  const [begun] = await rowOf(tx.query(BEGUN));
  const sql = `${BEGUN}, CASE WHEN now()::text = $2::text THEN ${lock} END AS answer`;
  const [still, answer] = await rowOf(tx.query(sql, [advisoryKey(key), begun]));
  if (still === begun) return answer;
  throw new TypeError('tx must be inside a transaction: begin one on this connection first');
}

async function rowOf(asked: Promise<unknown>): Promise<readonly unknown[]> {
  const result = (await asked) as { readonly rows?: unknown };
  const [row] = (result.rows ?? result) as readonly object[];
  return columnsOf(row);
}

/** 64 bits of the key's hash, as PostgreSQL writes them. Two keys that share them wait for each other, and no harm is done. */
export function advisoryKey(key: string): string {
  if (typeof key !== 'string' || key === '') throw new TypeError('key must be a string that is not empty'); // prettier-ignore
  return createHash('sha256').update(`holdfast:${key}`).digest().readBigInt64BE().toString();
}
