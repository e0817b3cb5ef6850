import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';
import { queryInTime } from '../connections/hung-connections.js';
import type { MysqlConnectionPool } from '../connections/hung-connections.js';
import { OpenTransactionError } from '../common/open-transaction.js';
import { asBigInt, asRows, asWhole } from '../common/sql-answers.js';
import type { MysqlClient, MysqlPromiseClient } from '../common/sql-clients.js';

/** The start of the statement: the same at every place in it, in any time zone of the session. */
export const NOW = 'UTC_TIMESTAMP(6)';
/** `NOW` in microseconds since 1970. */
export const MICROSECONDS = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', ${NOW})`;
const LONGEST_HOLDER = 255;

/** In the server status of each answer: a transaction is open, or begins, because there is no autocommit. */
const IN_TRANSACTION = 1;

/** The driver's result of a statement without rows. */
export interface Changes {
  readonly affectedRows: number;
  /** The last LAST_INSERT_ID(n) of the statement. */
  readonly insertId: bigint;
}

/** A pool of mysql2, with promises or callbacks. */
export class MysqlConnections {
  readonly #client: MysqlPromiseClient;

  constructor(client: MysqlClient) {
    this.#client = 'promise' in client ? client.promise() : client;
  }

  async change(sql: string, values: unknown[]): Promise<Changes> {
    return asChanges(await this.#query(sql, values));
  }

  async read(sql: string, values: unknown[]): Promise<readonly unknown[]> {
    const answer: unknown = await this.#query(sql, values);
    return asRows(Array.isArray(answer) ? answer[0] : answer);
  }

  #query(sql: string, values: unknown[]): Promise<unknown> {
    const { getConnection } = this.#client as Partial<MysqlConnectionPool>;
    if (typeof getConnection !== 'function') return this.#client.query(sql, values);
    return queryInTime(this.#client as MysqlPromiseClient & MysqlConnectionPool, sql, values);
  }
}

function asChanges(answer: unknown): Changes {
  const [header] = Array.isArray(answer) ? (answer as unknown[]) : [];
  const { affectedRows, insertId, serverStatus } = (header ?? {}) as Record<string, unknown>;
  if (affectedRows === undefined || insertId === undefined)
    throw new UnknownAnswerError('a header with affectedRows and insertId', answer);
  if (Number(serverStatus) & IN_TRANSACTION) throw new OpenTransactionError();
  return { affectedRows: asWhole(affectedRows), insertId: asBigInt(insertId) };
}

/** For a statement that changes one row at most: whether it did. */
export function isChanged({ affectedRows }: Changes): boolean {
  if (affectedRows === 0 || affectedRows === 1) return affectedRows === 1;
  throw new UnknownAnswerError('0 or 1 row', affectedRows);
}

/** A number, whatever type it came as: it is written into the statement unquoted. */
export function microseconds(ms: number): number {
  return Math.round(ms * 1_000);
}

/** As it fits into the column. */
export function holderBytes(holder: string | undefined): Buffer | null {
  return holder === undefined ? null : Buffer.from(holder.slice(0, LONGEST_HOLDER));
}

/** The lower bound of the fencing token. Without a floor: the clock. */
export function fencingFloor(floor: bigint | undefined): string {
  return floor === undefined ? MICROSECONDS : BigInt.asIntN(64, floor).toString();
}
