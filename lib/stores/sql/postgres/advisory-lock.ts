import { optionError } from '../../../core/options/option-error.js';
import { createHash } from 'node:crypto';
import { asRow, columnsOf, isTrueText } from '../common/sql-answers.js';

/** A connection with an open transaction: a `pg.Client`, or a wrapper of one (TypeORM's `QueryRunner` answers with the rows). */
export interface PostgresTransaction {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/**
 * When the transaction began: the same for all its statements. Outside a transaction, each statement is a transaction of its own.
 */
const BEGUN = 'SELECT now()::text AS begun';
const LEVEL = `current_setting('transaction_isolation') AS level`;
/** At the other levels, statements see the database as it was before the lock. */
const LEVELS = ['read committed', 'read uncommitted'];

/**
 * PostgreSQL: takes the key for the rest of the transaction, and waits for it. Freed by the COMMIT or ROLLBACK, and by a
 * ROLLBACK TO a SAVEPOINT from before it: take it in the outermost transaction. No ttl, no fencing token, no `signal`, and the
 * connection is in use for as long. Not excluded by locks of a `SqlLockStore`, which are rows. How long it waits is up to
 * `lock_timeout`.
 *
 * Rejects with a `TypeError` when no transaction is open, or one that is REPEATABLE READ or SERIALIZABLE: its statements see the
 * database as it was before the lock. Rejects with the error of the driver.
 */
export async function lockInTransaction(tx: PostgresTransaction, key: string): Promise<void> {
  await ask(tx, `pg_advisory_xact_lock($1::bigint)::text`, key);
}

/** As `lockInTransaction`, without waiting. Resolves `false` when another transaction has the key. */
export async function tryLockInTransaction(tx: PostgresTransaction, key: string): Promise<boolean> {
  return isTrueText(await ask(tx, `pg_try_advisory_xact_lock($1::bigint)::text`, key));
}

async function ask(tx: PostgresTransaction, lock: string, key: string): Promise<unknown> {
  if (typeof tx?.query !== 'function') {
    throw optionError('tx must be a connection with a method `query(text, values)`');
  }
  const [begun, level] = await columnsIn(tx.query(`${BEGUN}, ${LEVEL}`), 2);
  if (!LEVELS.includes(String(level))) throw optionError(`the transaction of tx must be READ COMMITTED, got ${String(level).toUpperCase()}: its statements would not see what the holders before it have written`); // prettier-ignore
  const sql = `${BEGUN}, CASE WHEN now()::text = $2::text THEN ${lock} END AS answer`;
  const [still, answer] = await columnsIn(tx.query(sql, [advisoryKey(key), begun]), 2);
  if (still === begun) return answer;
  throw optionError('tx must be inside a transaction: begin one on this connection first');
}

async function columnsIn(asked: Promise<unknown>, count: number): Promise<readonly unknown[]> {
  const result = (await asked) as { readonly rows?: unknown } | null | undefined;
  return columnsOf(asRow(result?.rows ?? result), count);
}

/** 64 bits of the key's hash, as PostgreSQL writes them. Two keys with the same bits wait for each other, which is harmless. */
export function advisoryKey(key: string): string {
  if (typeof key !== 'string' || key === '') throw optionError('key must be a string that is not empty'); // prettier-ignore
  return createHash('sha256').update(`holdfast:${key}`).digest().readBigInt64BE().toString();
}
