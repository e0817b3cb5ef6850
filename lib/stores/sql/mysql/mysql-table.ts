import { UnknownAnswerError } from '../../../core/contract/unknown-answer.js';
import type { LockInspection } from '../../../core/contract/lock-store.js';
import { asInspection, asListed, keyFromHex } from '../common/lock-inspection.js';
import { SHARED, keyBytes } from '../common/lock-table.js';
import type { Claim, LockTable } from '../common/lock-table.js';
import { MICROSECONDS, MysqlConnections, NOW, fencingFloor, holderBytes, isChanged, microseconds } from './mysql-connections.js'; // prettier-ignore
import { MysqlPermits } from './mysql-permits.js';
import { asNumber, asRow, columnsOf } from '../common/sql-answers.js';
import type { MysqlClient } from '../common/sql-clients.js';

const IS_HELD = `\`token\` IS NOT NULL AND \`expires_at\` > ${NOW}`;
const INSPECTED = `\`holder\`, CAST(TIMESTAMPDIFF(MICROSECOND, ${NOW}, \`expires_at\`) / 1000 AS CHAR), CAST(\`fencing\` AS CHAR),
  IF(\`token\` = '${SHARED}', CAST(\`permits\` AS CHAR), NULL), CAST(\`sharers\` AS CHAR), CAST(${MICROSECONDS} AS CHAR)`;
/** Microseconds: a second after 1970, for a server whose clock was never set. */
const SMALLEST_TOKEN = 1_000_000n;

const HOW = { units: 1_000 };

/** MySQL 8 and MariaDB. Text is sent as bytes, which need no quotes: their meaning depends on `sql_mode`. */
export class MysqlTable implements LockTable {
  readonly permits: MysqlPermits;
  readonly #connections: MysqlConnections;
  readonly #table: string;
  readonly #ddl: string;

  constructor(client: MysqlClient, quoted: string, ddl: string) {
    this.#connections = new MysqlConnections(client);
    this.permits = new MysqlPermits(this.#connections, quoted);
    this.#table = quoted;
    this.#ddl = ddl;
  }

  /**
   * MySQL has no RETURNING, and a replica could answer a read. So the answer is the last LAST_INSERT_ID(n) of the statement: the
   * fencing token when the row was taken, and 0 when it is held. The zero is computed from the row, because a constant might be
   * computed first.
   */
  async acquire({ key, token, holder, ttl, ...claim }: Claim): Promise<bigint | undefined> {
    const its = Buffer.from(token);
    const name = holderBytes(holder);
    const until = `${NOW} + INTERVAL ${microseconds(ttl)} MICROSECOND`;
    const floor = fencingFloor(claim.fencingFloor);
    const isFree = `(\`token\` IS NULL OR \`token\` = ? OR \`expires_at\` <= ${NOW})`;
    const { insertId } = await this.#connections.change(
      `INSERT INTO ${this.#table} (\`key\`, \`token\`, \`holder\`, \`fencing\`, \`expires_at\`)
VALUES (?, ?, CONVERT(? USING utf8mb4), LAST_INSERT_ID(${floor}), ${until})
ON DUPLICATE KEY UPDATE
  \`fencing\` = IF(${isFree}, LAST_INSERT_ID(GREATEST(\`fencing\` + 1, ${floor})), \`fencing\` + LAST_INSERT_ID(\`fencing\` * 0)),
  \`holder\` = IF(${isFree}, CONVERT(? USING utf8mb4), \`holder\`),
  \`token\` = IF(${isFree}, ?, \`token\`),
  \`expires_at\` = IF(${isFree}, ${until}, \`expires_at\`)`,
      [keyBytes(key), its, name, its, its, name, its, its, its],
    );
    return asToken(insertId);
  }

  async evict({ key, token, holder, ttl }: Claim, named: bigint): Promise<bigint | undefined> {
    const its = Buffer.from(token);
    const { affectedRows, insertId } = await this.#connections.change(
      `UPDATE ${this.#table} SET \`fencing\` = LAST_INSERT_ID(GREATEST(\`fencing\` + 1, ${MICROSECONDS})), \`token\` = ?,
  \`holder\` = CONVERT(? USING utf8mb4), \`expires_at\` = ${NOW} + INTERVAL ${microseconds(ttl)} MICROSECOND
WHERE \`key\` = ? AND \`expires_at\` > ${NOW} AND (\`token\` = ? OR (\`fencing\` = ${named} AND \`token\` <> '${SHARED}'))`,
      [its, holderBytes(holder), keyBytes(key), its],
    );
    return affectedRows === 0 ? undefined : asToken(insertId);
  }

  extend(key: string, token: string, ttl: number): Promise<boolean> {
    return this.#changeOurs(key, token, `\`expires_at\` = ${NOW} + INTERVAL ${microseconds(ttl)} MICROSECOND`); // prettier-ignore
  }

  release(key: string, token: string): Promise<boolean> {
    return this.#changeOurs(key, token, `\`token\` = NULL, \`holder\` = NULL, \`expires_at\` = ${NOW}`); // prettier-ignore
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    const rows = await this.#connections.read(
      `SELECT ${INSPECTED} FROM ${this.#table} WHERE \`key\` = ? AND ${IS_HELD}`,
      [keyBytes(key)],
    );
    return asInspection(key, asRow(rows), HOW);
  }

  async list(from: string, limit: number): Promise<readonly LockInspection[]> {
    const rows = await this.#connections.read(
      `SELECT HEX(\`key\`), ${INSPECTED} FROM ${this.#table} WHERE \`key\` >= ? AND ${IS_HELD} ORDER BY \`key\` LIMIT ?`,
      [keyBytes(from), limit],
    );
    return asListed(rows, keyFromHex, HOW);
  }

  async time(): Promise<number> {
    const row = asRow(await this.#connections.read(`SELECT CAST(${MICROSECONDS} AS CHAR)`, []));
    return asNumber(columnsOf(row, 1)[0]) / 1_000;
  }

  /** Reads first: a DELETE would lock every row that it looks at. */
  async sweep(limit: number): Promise<number> {
    const isStale = `\`expires_at\` < ${NOW} - INTERVAL 1 DAY AND \`fencing\` < ${MICROSECONDS}`;
    const stale = await this.#connections.read(`SELECT \`key\` FROM ${this.#table} WHERE ${isStale} LIMIT ?`, [limit]); // prettier-ignore
    if (stale.length === 0) return 0;
    const keys = stale.map((row) => columnsOf(row, 1)[0]);
    const marks = keys.map(() => '?').join(', ');
    const { affectedRows } = await this.#connections.change(
      `DELETE FROM ${this.#table} WHERE \`key\` IN (${marks}) AND ${isStale}`,
      keys,
    );
    return affectedRows;
  }

  async create(): Promise<void> {
    await this.#connections.change(this.#ddl, []);
  }

  async #changeOurs(key: string, token: string, assignments: string): Promise<boolean> {
    const changes = await this.#connections.change(
      `UPDATE ${this.#table} SET ${assignments} WHERE \`key\` = ? AND \`token\` = ? AND \`expires_at\` > ${NOW}`,
      [keyBytes(key), Buffer.from(token)],
    );
    return isChanged(changes);
  }
}

/** A token is at least the server's time. Less comes out of a damaged answer, in which one byte makes a grant of a refusal. */
function asToken(insertId: bigint): bigint | undefined {
  if (insertId === 0n) return undefined;
  if (insertId >= SMALLEST_TOKEN) return insertId;
  throw new UnknownAnswerError('0 or a fencing token', insertId);
}
