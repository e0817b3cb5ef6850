import { aWhole, checkOptions } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { COLUMN_RULES, columnOf, quoted } from './fence-column.js';
import type { FenceColumnOptions, SqlDialect } from './fence-column.js';
import type { FencedHolder } from '../holder/fenced-holder.js';
import { checkHolder } from '../holder/fenced-holder.js';
import { FencedWrite } from './fenced-write.js';

/** Parts of a statement. The token is in none of them: `value` is bound to their placeholders. */
export class FencedSql extends FencedWrite {
  /** For the `SET` of an update: `"fence" = $1`. */
  readonly set: string;
  /** For its `WHERE`: `"fence" <= $1`. */
  readonly where: string;
  /** For the `SELECT` of `assertWritten`: the fence as text, whatever the driver makes of large numbers. */
  readonly select: string;
  /** The token, as text: neither driver loses a digit. */
  readonly value: string;

  constructor(holder: FencedHolder, column: string, dialect: SqlDialect, placeholder: string) {
    super(holder, column);
    const name = quoted(dialect, column);
    const isMySql = dialect === 'mysql';
    this.set = `${name} = ${placeholder}`;
    // MySQL compares a number with text as floating point, which is exact up to 2^53 only.
    this.where = `${name} <= ${isMySql ? `CAST(${placeholder} AS SIGNED)` : placeholder}`;
    this.select = `${isMySql ? `CAST(${name} AS CHAR)` : `${name}::text`} AS ${name}`;
    this.value = String(holder.fencingToken);
  }
}

export interface FencedPgOptions extends FenceColumnOptions {
  /**
   * Number of the placeholder that stands for the token: `1` for `$1`.
   * @default 1
   */
  readonly at?: number | undefined;
}

const PG_RULES: OptionRules<FencedPgOptions> = {
  ...COLUMN_RULES,
  at: aWhole('', { from: 1, to: 65_535 }),
};

/**
 * For pg, with one placeholder for both parts:
 *
 * ```ts
 * const fence = fenced.pg(lock);
 * await pool.query(`UPDATE account SET balance = $2, ${fence.set} WHERE id = $3 AND ${fence.where}`, [fence.value, 10, id]);
 * ```
 */
export function fencedPg(holder: FencedHolder, options: FencedPgOptions = {}): FencedSql {
  checkOptions('fenced.pg', options, PG_RULES, "{ column: 'fence' }");
  const { at = 1, column = 'fence' } = options;
  return new FencedSql(checkHolder(holder), column, 'pg', `$${at}`);
}

/**
 * For mysql2 (MySQL and MariaDB), `query` and `execute` alike, with `value` bound twice:
 *
 * ```ts
 * const fence = fenced.mysql(lock);
 * const sql = `UPDATE account SET balance = ?, ${fence.set} WHERE id = ? AND ${fence.where}`;
 * await pool.execute(sql, [10, fence.value, id, fence.value]);
 * ```
 */
export function fencedMySql(holder: FencedHolder, options: FenceColumnOptions = {}): FencedSql {
  return new FencedSql(checkHolder(holder), columnOf('fenced.mysql', options), 'mysql', '?');
}
