import { checkOptions, oneOf } from '../../../core/options/option-rules.js';
import type { SqlDialect } from './sql-clients.js';
import { resolveTable, TABLE_RULES } from './sql-identifiers.js';
import type { TableName } from './sql-identifiers.js';

/**
 * Keys are compared byte by byte: no collation takes two for one, no trailing blank is cut off, and a zero is a character like
 * others.
 * `queue` lists the waiters. `sharers` lists the holders of `permits` if the token says that the row is shared.
 * Half of each page is left free: an updated row then fits beside the old one, and its index is not written.
 */
const COLUMNS: Record<SqlDialect, (quoted: string) => string> = {
  postgres: (table) => `CREATE TABLE IF NOT EXISTS ${table} (
  "key" bytea PRIMARY KEY,
  "token" text,
  "holder" text,
  "fencing" bigint NOT NULL,
  "expires_at" timestamptz NOT NULL,
  "queue" jsonb NOT NULL DEFAULT '[]',
  "permits" bigint,
  "sharers" jsonb
) WITH (fillfactor = 50)`,
  mysql: (table) => `CREATE TABLE IF NOT EXISTS ${table} (
  \`key\` VARBINARY(512) NOT NULL PRIMARY KEY,
  \`token\` VARBINARY(255) NULL,
  \`holder\` VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  \`fencing\` BIGINT NOT NULL,
  \`expires_at\` DATETIME(6) NOT NULL,
  \`permits\` BIGINT NULL,
  \`sharers\` JSON NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC`,
  sqlite: (table) => `CREATE TABLE IF NOT EXISTS ${table} (
  "key" TEXT NOT NULL PRIMARY KEY,
  "token" TEXT,
  "holder" TEXT,
  "fencing" INTEGER NOT NULL,
  "expires_at" INTEGER NOT NULL,
  "permits" INTEGER,
  "sharers" TEXT
) WITHOUT ROWID`,
};

const aDialect = oneOf('postgres', 'mysql', 'sqlite');

/**
 * The statement that makes the table of the locks, for migrations. It does nothing where the table exists.
 *
 * ```ts
 * await knex.raw(lockTableDdl('postgres'));
 * ```
 *
 * Throws `TypeError` for a table or schema that is not a plain identifier.
 */
export function lockTableDdl(dialect: SqlDialect, options: TableName = {}): string {
  aDialect('lockTableDdl: the dialect', dialect);
  checkOptions('lockTableDdl', options, TABLE_RULES, "{ table: 'my_locks' }");
  return COLUMNS[dialect](resolveTable(dialect, options).quoted);
}
