import { MovedFile } from './moved-file.js';
import { OpenTransactionError } from '../common/open-transaction.js';
import { asRow, asRows, asWhole, columnsOf } from '../common/sql-answers.js';
import type { SqliteClient } from '../common/sql-clients.js';

type Values = Parameters<ReturnType<SqliteClient['prepare']>['all']>;

/**
 * Runs single statements at once, or fails at once. A driver that waits for a lock of the file blocks the event loop, and with it
 * every renewal in this process. The connection's own `busy_timeout` is put back after each statement.
 */
export class SqliteConnection {
  readonly #client: SqliteClient;
  readonly #file: MovedFile;
  readonly #statements = new Map<string, ReturnType<SqliteClient['prepare']>>();

  constructor(client: SqliteClient) {
    this.#client = client;
    this.#file = new MovedFile(() => this.#path);
  }

  /** The rows of a statement that returns some. better-sqlite3 refuses others. */
  all(sql: string, values: Values): readonly unknown[] {
    return this.#atOnce(() => asRows(this.#prepared(sql).all(...values)));
  }

  /**
   * As `all`, in a transaction of its own, so that COMMIT says whether it was written: libsql 0.5 has lost writes of statements
   * that return rows, when other processes wrote at the same time.
   */
  write(sql: string, values: Values): readonly unknown[] {
    return this.writeAll(sql, [values])[0]!;
  }

  /** As `write`, of one statement with several sets of values: the rows for each. */
  writeAll(sql: string, sets: readonly Values[]): readonly (readonly unknown[])[] {
    return this.#atOnce(() => {
      this.#client.exec('BEGIN IMMEDIATE');
      try {
        const answers = sets.map((values) => asRows(this.#prepared(sql).all(...values)));
        this.#client.exec('COMMIT');
        return answers;
      } catch (error) {
        this.#rollBack();
        throw error;
      }
    });
  }

  exec(sql: string): void {
    this.#atOnce(() => this.#client.exec(sql));
  }

  /** Never throws: some failures have ended the transaction already, and not every driver reports that. */
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
    this.#file.check();
    if (this.#isInTransaction) throw new OpenTransactionError('SQLITE_BUSY'); // sent again until it has ended
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
    return asWhole(columnsOf(asRow(this.#prepared('PRAGMA busy_timeout').all()), 1)[0]);
  }

  /** Empty for a database that has no file. */
  get #path(): string {
    const rows = asRows(this.#prepared('PRAGMA database_list').all());
    const [, , path] =
      rows.map((row) => columnsOf(row, 3)).find(([, name]) => name === 'main') ?? [];
    return typeof path === 'string' ? path : '';
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
