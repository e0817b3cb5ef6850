/*
 * The parts of the drivers that the store uses. The types are structural: neither the version nor the copy of a driver matters,
 * and no driver is loaded here.
 */

/** A `pg.Pool`, or a client that answers like one: each statement by itself, on any connection. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<{ readonly rows: readonly object[] }>;
}

export interface PostgresQuery {
  readonly text: string;
  values: unknown[];
  /** Lets the connection keep the statement, parsed and planned, under this name. */
  readonly name?: string;
  /** Milliseconds after which `pg` gives up the connection. */
  readonly query_timeout?: number;
}

/** The part of a connection that listening needs: a `pg.Client` that has not connected yet. */
export interface PostgresListenerClient {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  on(event: string, listener: (...args: never[]) => void): unknown;
  /** Lets the process end although the connection is open. */
  unref?(): void;
  /** The socket, to destroy if the server does not answer when the connection is to end. */
  readonly connection?: { readonly stream?: { destroy(): unknown } };
}

/** A pool of `mysql2/promise`. */
export interface MysqlPromiseClient {
  query(sql: string, values: unknown[]): Promise<readonly [unknown, ...unknown[]]>;
}

/** A pool of `mysql2`, which the store asks for its promises. */
export interface MysqlCallbackClient {
  promise(): MysqlPromiseClient;
}

export type MysqlClient = MysqlPromiseClient | MysqlCallbackClient;

type SqliteValue = string | number | null | Uint8Array;

/** A database of better-sqlite3, of libsql, or a `DatabaseSync` of node:sqlite. */
export interface SqliteClient {
  prepare(sql: string): { all(...values: SqliteValue[]): readonly unknown[] };
  exec(sql: string): unknown;
  /** The application has begun a transaction on this connection: better-sqlite3 and libsql. */
  readonly inTransaction?: boolean;
  /** The same: node:sqlite. */
  readonly isTransaction?: boolean;
  /** The connection is open: better-sqlite3 and libsql. */
  readonly open?: unknown;
  /** The same: node:sqlite, where `open` is a method. */
  readonly isOpen?: boolean;
}

/** Exactly one of them. The caller keeps its client: the store never closes it. */
export type SqlClient =
  | { readonly postgres: PostgresClient }
  | { readonly mysql: MysqlClient }
  | { readonly sqlite: SqliteClient };

export type SqlDialect = 'postgres' | 'mysql' | 'sqlite';
