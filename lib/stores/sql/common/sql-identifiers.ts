import { a } from '../../../core/options/option-rules.js';
import type { OptionRules } from '../../../core/options/option-rules.js';
import type { SqlDialect } from './sql-clients.js';

/** Every database takes this, quoted or not. PostgreSQL cuts longer names off, so that two could become one. */
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

const anIdentifier = a(
  'at most 63 letters, digits and underscores, and not begin with a digit',
  (value) => typeof value === 'string' && IDENTIFIER.test(value),
);

export const TABLE_RULES: OptionRules<TableName> = { table: anIdentifier, schema: anIdentifier };

export interface ResolvedTable {
  readonly table: string;
  /** Quoted, with its schema, as it is written into statements. */
  readonly quoted: string;
}

/** For checked names: they become part of statements. */
export function resolveTable(
  dialect: SqlDialect,
  { table = 'holdfast_locks', schema }: TableName,
): ResolvedTable {
  const parts = schema === undefined ? [table] : [schema, table];
  const quote = dialect === 'mysql' ? '`' : '"';
  return { table, quoted: parts.map((part) => quote + part + quote).join('.') };
}
