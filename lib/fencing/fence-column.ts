import { show } from '../core/option-values.js';

export interface FenceColumnOptions<Column extends string = string> {
  /**
   * Name of the column, exactly as the database has it; for TypeORM and Prisma, of the entity's property or the model's field.
   * Letters, digits, `_` and `$`, at most 63.
   * @default 'fence'
   */
  readonly column?: Column | undefined;
}

export type SqlDialect = 'pg' | 'mysql';

const DEFINITION = 'BIGINT NOT NULL DEFAULT 0';

/**
 * The column, for `CREATE TABLE` and behind `ALTER TABLE account ADD COLUMN`: `"fence" BIGINT NOT NULL DEFAULT 0`. Never
 * nullable, for no comparison with `NULL` is true. Throws `TypeError`.
 */
export function fenceColumnDdl(dialect: SqlDialect, options: FenceColumnOptions = {}): string {
  if (dialect !== 'pg' && dialect !== 'mysql') {
    throw new TypeError(`the dialect must be 'pg' or 'mysql', got ${show(dialect)}`);
  }
  return `${quoted(dialect, columnOf(options))} ${DEFINITION}`;
}

/** Throws `TypeError` for what is not a plain identifier: it becomes part of the statement. */
export function columnOf<Column extends string>({ column }: FenceColumnOptions<Column>): Column {
  const name: unknown = column === undefined ? 'fence' : column;
  if (typeof name === 'string' && /^[A-Za-z_][\w$]{0,62}$/.test(name)) return name as Column;
  throw new TypeError(
    `column must be a name of at most 63 letters, digits, "_" and "$" that starts with a letter or "_", got ${show(name)}`,
  );
}

export function quoted(dialect: SqlDialect, column: string): string {
  return dialect === 'pg' ? `"${column}"` : `\`${column}\``;
}
