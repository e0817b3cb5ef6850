import type { SqlDialect } from './sql-clients.js';

/** What every database takes, quoted or not. PostgreSQL cuts longer ones off, so that two could become one. */
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

export interface TableName {
  /**
   * The table of the locks.
   * @default 'holdfast_locks'
   */
  readonly table?: string | undefined;
  /**
   * Where the table is: a schema of PostgreSQL, a database of MySQL, an attached database of SQLite.
   * @default where the connection looks first
   */
  readonly schema?: string | undefined;
}

export interface ResolvedTable {
  readonly table: string;
  /** Quoted, with its schema, as it stands in statements. */
  readonly quoted: string;
}

/** Throws `TypeError` naming the option, for anything but a plain identifier. */
export function resolveTable(
  dialect: SqlDialect,
  { table = 'holdfast_locks', schema }: TableName,
): ResolvedTable {
  const name = checkIdentifier('table', table);
  const parts = schema === undefined ? [name] : [checkIdentifier('schema', schema), name];
  const quote = dialect === 'mysql' ? '`' : '"';
  return { table: name, quoted: parts.map((part) => quote + part + quote).join('.') };
}

function checkIdentifier(option: string, value: unknown): string {
  if (typeof value === 'string' && IDENTIFIER.test(value)) return value;
  const got = typeof value === 'string' ? JSON.stringify(value) : String(value);
  throw new TypeError(
    `${option} must be at most 63 letters, digits and underscores, and not begin with a digit, got ${got}`,
  );
}
