import type { SqliteClient } from './sql-clients.js';

type Values = Parameters<ReturnType<SqliteClient['prepare']>['all']>;

/** Somebody else's transaction is open on the connection: a lock that is taken in it could be rolled back. */
class OpenTransactionError extends Error {
  readonly code = 'SQLITE_BUSY';

  constructor() {
    super(
      'a transaction is open on the connection of the locks; give them a connection of their own',
    );
    this.name = 'OpenTransactionError';
  }
}

/**
 * Runs single statements at once, or fails at once: a driver that waits for a lock of the file blocks the event loop, and
 * with it every renewal in this process. The connection's own `busy_timeout` is put back after each statement.
 */
export class SqliteConnection {
  readonly #client: SqliteClient;
  readonly #statements = new Map<string, ReturnType<SqliteClient['prepare']>>();

  constructor(client: SqliteClient) {
    this.#client = client;
  }

  /** The rows of a statement that returns some. better-sqlite3 refuses others. */
  all(sql: string, values: Values): readonly unknown[] {
    return this.#atOnce(() => this.#prepared(sql).all(...values));
  }

  /**
   * As `all`, in a transaction of its own, so that COMMIT says whether it was written: libsql 0.5 has lost writes of statements
   * that return rows, when other processes wrote at the same time.
   */
  write(sql: string, values: Values): readonly unknown[] {
    return this.#atOnce(() => {
      this.#client.exec('BEGIN IMMEDIATE');
      try {
        const rows = this.#prepared(sql).all(...values);
        this.#client.exec('COMMIT');
        return rows;
      } catch (error) {
        this.#rollBack();
        throw error;
      }
    });
  }

  exec(sql: string): void {
    this.#atOnce(() => this.#client.exec(sql));
  }

  /** Never throws: some failures have ended the transaction already, which not every driver tells. */
  #rollBack(): void {
    try {
      this.#client.exec('ROLLBACK');
    } catch {
      // none is open any more
    }
  }

  #atOnce<T>(run: () => T): T {
    const client = this.#client;
    // First: libsql ends the process when it is asked for anything else.
    if (client.open === false || client.isOpen === false) throw new Error('the database is closed');
    if (this.#isInTransaction) throw new OpenTransactionError();
    const timeout = this.#busyTimeout;
    if (timeout > 0) this.#client.exec('PRAGMA busy_timeout = 0');
    try {
      return run();
    } finally {
      if (timeout > 0) this.#client.exec(`PRAGMA busy_timeout = ${timeout}`);
    }
  }

  get #isInTransaction(): boolean {
    return this.#client.inTransaction === true || this.#client.isTransaction === true;
  }

  get #busyTimeout(): number {
    const [row] = this.#prepared('PRAGMA busy_timeout').all();
    return Number(Object.values(row as object)[0]);
  }

  #prepared(sql: string): ReturnType<SqliteClient['prepare']> {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#client.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
