import type { LockInspection } from '../../core/lock-store.js';
import { asInspection, columnsOf, keyBytes } from './lock-table.js';
import type { Claim, LockTable } from './lock-table.js';
import type { MysqlClient, MysqlPromiseClient } from './sql-clients.js';

/** The start of the statement, the same wherever it stands in it, and whatever the time zone of the session. */
const NOW = 'UTC_TIMESTAMP(6)';
const MICROSECONDS = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', ${NOW})`;
const LONGEST_HOLDER = 255;

/** What the driver says of a statement that returns no rows. */
interface Changes {
  readonly affectedRows: number;
  readonly insertId: number | string;
}

/** MySQL 8 and MariaDB. Text goes as bytes, which nobody has to quote: what quotes mean depends on `sql_mode`. */
export class MysqlTable implements LockTable {
  readonly #client: MysqlPromiseClient;
  readonly #table: string;
  readonly #ddl: string;

  constructor(client: MysqlClient, quoted: string, ddl: string) {
    this.#client = 'promise' in client ? client.promise() : client;
    this.#table = quoted;
    this.#ddl = ddl;
  }

  /**
   * MySQL has no RETURNING, and a read could be answered by a replica. So the answer says it: the last LAST_INSERT_ID(n) of
   * the statement, which is the fencing token when the row was taken, and 0 when it is held. The zero is computed from the
   * row, because a constant might be computed first.
   */
  async acquire({ key, token, holder, ttl, fencingFloor }: Claim): Promise<bigint | undefined> {
    const its = Buffer.from(token);
    const name = holder === undefined ? null : Buffer.from(holder.slice(0, LONGEST_HOLDER));
    const until = `${NOW} + INTERVAL ${microseconds(ttl)} MICROSECOND`;
    const floor =
      fencingFloor === undefined ? MICROSECONDS : BigInt.asIntN(64, fencingFloor).toString();
    const isFree = `(\`token\` IS NULL OR \`token\` = ? OR \`expires_at\` <= ${NOW})`;
    const { insertId } = await this.#change(
      `INSERT INTO ${this.#table} (\`key\`, \`token\`, \`holder\`, \`fencing\`, \`expires_at\`)
VALUES (?, ?, CONVERT(? USING utf8mb4), LAST_INSERT_ID(${floor}), ${until})
ON DUPLICATE KEY UPDATE
  \`fencing\` = IF(${isFree}, LAST_INSERT_ID(GREATEST(\`fencing\` + 1, ${floor})), \`fencing\` + LAST_INSERT_ID(\`fencing\` * 0)),
  \`holder\` = IF(${isFree}, CONVERT(? USING utf8mb4), \`holder\`),
  \`token\` = IF(${isFree}, ?, \`token\`),
  \`expires_at\` = IF(${isFree}, ${until}, \`expires_at\`)`,
      [keyBytes(key), its, name, its, its, name, its, its, its],
    );
    const fencing = BigInt(insertId);
    return fencing === 0n ? undefined : fencing;
  }

  extend(key: string, token: string, ttl: number): Promise<boolean> {
    return this.#changeOurs(key, token, `\`expires_at\` = ${NOW} + INTERVAL ${microseconds(ttl)} MICROSECOND`); // prettier-ignore
  }

  release(key: string, token: string): Promise<boolean> {
    return this.#changeOurs(key, token, `\`token\` = NULL, \`holder\` = NULL, \`expires_at\` = ${NOW}`); // prettier-ignore
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    const rows = await this.#read(
      `SELECT \`holder\`, CAST(TIMESTAMPDIFF(MICROSECOND, ${NOW}, \`expires_at\`) / 1000 AS CHAR), CAST(\`fencing\` AS CHAR)
FROM ${this.#table} WHERE \`key\` = ? AND \`token\` IS NOT NULL AND \`expires_at\` > ${NOW}`,
      [keyBytes(key)],
    );
    return asInspection(key, rows[0]);
  }

  /** Reads first: a DELETE would lock every row that it looks at. */
  async sweep(limit: number): Promise<number> {
    const isStale = `\`expires_at\` < ${NOW} - INTERVAL 1 DAY AND \`fencing\` < ${MICROSECONDS}`;
    const stale = await this.#read(`SELECT \`key\` FROM ${this.#table} WHERE ${isStale} LIMIT ?`, [limit]); // prettier-ignore
    if (stale.length === 0) return 0;
    const keys = stale.map((row) => columnsOf(row)[0]);
    const marks = keys.map(() => '?').join(', ');
    const { affectedRows } = await this.#change(
      `DELETE FROM ${this.#table} WHERE \`key\` IN (${marks}) AND ${isStale}`,
      keys,
    );
    return affectedRows;
  }

  async create(): Promise<void> {
    await this.#client.query(this.#ddl, []);
  }

  async #changeOurs(key: string, token: string, assignments: string): Promise<boolean> {
    const { affectedRows } = await this.#change(
      `UPDATE ${this.#table} SET ${assignments} WHERE \`key\` = ? AND \`token\` = ? AND \`expires_at\` > ${NOW}`,
      [keyBytes(key), Buffer.from(token)],
    );
    return affectedRows > 0;
  }

  async #change(sql: string, values: unknown[]): Promise<Changes> {
    return (await this.#client.query(sql, values))[0] as Changes;
  }

  async #read(sql: string, values: unknown[]): Promise<readonly unknown[]> {
    return (await this.#client.query(sql, values))[0] as readonly unknown[];
  }
}

/** A number, however it came here: it stands in the statement as it is. */
function microseconds(ms: number): number {
  return Math.round(ms * 1_000);
}
