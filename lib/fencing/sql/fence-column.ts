import { a, checkOptions, oneOf } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';

export interface FenceColumnOptions<Column extends string = string> {
  /**
   * Name of the column, exactly as the database has it; for TypeORM and Prisma, of the entity's property or the model's field.
   * Letters, digits, `_` and `$`, at most 63.
   * @default 'fence'
   */
  readonly column?: Column | undefined;
}

export type SqlDialect = 'pg' | 'mysql';

/** It becomes part of the statement. */
export const COLUMN_RULES: OptionRules<FenceColumnOptions> = {
  column: a(
    'a name of at most 63 letters, digits, "_" and "$" that starts with a letter or "_"',
    (value) => typeof value === 'string' && /^[A-Za-z_][\w$]{0,62}$/.test(value),
  ),
};

const aDialect = oneOf('pg', 'mysql');
const DEFINITION = 'BIGINT NOT NULL DEFAULT 0';

/**
 * The column, for `CREATE TABLE` and behind `ALTER TABLE account ADD COLUMN`: `"fence" BIGINT NOT NULL DEFAULT 0`. Never
 * nullable, for no comparison with `NULL` is true. Throws `TypeError`.
 */
export function fenceColumnDdl(dialect: SqlDialect, options: FenceColumnOptions = {}): string {
  aDialect('fenceColumnDdl: the dialect', dialect);
  return `${quoted(dialect, columnOf('fenceColumnDdl', options))} ${DEFINITION}`;
}

/** Throws `TypeError` naming the option. */
export function columnOf<Column extends string>(
  owner: string,
  options: FenceColumnOptions<Column>,
): Column {
  checkOptions(owner, options, COLUMN_RULES, "{ column: 'fence' }");
  return options.column ?? ('fence' as Column);
}

export function quoted(dialect: SqlDialect, column: string): string {
  return dialect === 'pg' ? `"${column}"` : `\`${column}\``;
}
