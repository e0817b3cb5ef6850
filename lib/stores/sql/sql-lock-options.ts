import { fieldsOf, isList } from '../../core/contract/fields.js';
import { show } from '../../core/options/option-values.js';
import { echo } from '../../core/text/printable.js';
import { redact } from '../../core/text/redaction.js';
import { a, aBoolean, checkOptions } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { optionError } from '../../core/options/option-error.js';
import type { PostgresListenerClient, SqlClient, SqlDialect } from './common/sql-clients.js';
import { TABLE_RULES } from './common/sql-identifiers.js';
import type { TableName } from './common/sql-identifiers.js';

export interface SqlLockStoreOptions extends TableName {
  /**
   * PostgreSQL: how a connection is made that listens for notifications, open while a caller waits and closed with the store.
   * `false`: none, and waiters poll by `retryDelay`, in no order. A function: it returns a new `pg.Client` that has not
   * connected, past a pooler that shares connections between transactions, say.
   * @default a client made from `pool.options`; as `false` for what is no `pg.Pool`
   */
  readonly listen?: false | (() => PostgresListenerClient) | undefined;
  /**
   * PostgreSQL: names the statements, so that each connection parses and plans them once, which makes them twice as fast. Not
   * for a pooler that shares connections between transactions, unless it knows prepared statements (PgBouncer 1.21).
   * @default false
   */
  readonly prepare?: boolean | undefined;
}

const RULES: OptionRules<SqlLockStoreOptions> = {
  ...TABLE_RULES,
  listen: a('false or a function', (value) => value === false || typeof value === 'function'),
  prepare: aBoolean,
};

/** Throws `TypeError` naming the option. */
export function checkSqlOptions(options: SqlLockStoreOptions): void {
  checkOptions('SqlLockStore', options, RULES, "{ table: 'my_locks' }");
}

/** Names of drivers in a message. */
const MOST_SHOWN = 5;

/** The methods that each client needs, and the error text for one without them. */
const CLIENTS: Record<SqlDialect, { readonly methods: readonly string[]; readonly what: string }> =
  {
    postgres: { methods: ['query'], what: 'a pg.Pool' },
    mysql: { methods: ['query'], what: 'a pool of mysql2' },
    sqlite: {
      methods: ['prepare', 'exec'],
      what: 'a database of better-sqlite3, libsql or node:sqlite',
    },
  };

/** Throws `TypeError`. */
export function dialectOf(client: SqlClient): SqlDialect {
  const given = driversOf(client);
  const [dialect, driver] = given[0] ?? ['', undefined];
  if (given.length !== 1 || !Object.hasOwn(CLIENTS, dialect)) {
    throw optionError(
      `SqlLockStore expects { postgres: pool }, { mysql: pool } or { sqlite: database }, got ${shown(client, given)}`,
    );
  }
  const { methods, what } = CLIENTS[dialect as SqlDialect];
  const has = methodsOf(driver);
  const missing = methods.find((method) => !has(method));
  if (missing) throw optionError(`${dialect} must be ${what}, but has no method \`${missing}\``);
  return dialect as SqlDialect;
}

/** A function may have methods, too. */
function methodsOf(driver: unknown): (method: string) => boolean {
  const fields = typeof driver === 'function' ? Object(driver) : fieldsOf(driver);
  return (method) => typeof fields[method] === 'function';
}

function driversOf(client: unknown): [string, unknown][] {
  if (typeof client !== 'object' || isList(client) !== false) return [];
  return Object.entries(client ?? {}).filter(([, driver]) => driver !== undefined);
}

/** With the names of a few drivers. */
function shown(client: unknown, given: readonly [string, unknown][]): string {
  if (given.length === 0 || given.length > MOST_SHOWN) return show(client);
  return `{ ${given.map(([name]) => echo(redact(name))).join(', ')} }`;
}

/** How to make the connection that listens. */
export function listenerOf(
  pool: unknown,
  { listen }: SqlLockStoreOptions,
): (() => PostgresListenerClient) | undefined {
  if (typeof listen === 'function') return listen;
  const { Client, options } = pool as PgPool;
  if (listen === false || typeof Client !== 'function' || !options) return undefined;
  return () => new Client(options);
}

/** The options from which a `pg.Pool` makes its connections. */
interface PgPool {
  readonly Client?: new (options: object) => PostgresListenerClient;
  readonly options?: object;
}
