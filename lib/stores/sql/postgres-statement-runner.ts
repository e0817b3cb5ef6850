import { createHash } from 'node:crypto';
import { columnsOf } from './lock-table.js';
import type { PostgresPermitStatements } from './postgres-permit-statements.js';
import type { PostgresStatements } from './postgres-statements.js';
import type { PostgresClient } from './sql-clients.js';

type Statements = PostgresStatements & PostgresPermitStatements;

/** Sends the statements on one table by their names, which the connections know as well where they are to be prepared. */
export class PostgresStatementRunner {
  readonly #client: PostgresClient;
  readonly #sql: Statements;
  /** Of the names of prepared statements. */
  readonly #prefix: string | undefined;

  constructor(client: PostgresClient, quoted: string, sql: Statements, prepare: boolean) {
    this.#client = client;
    this.#sql = sql;
    this.#prefix = prepare
      ? `holdfast_${createHash('sha256').update(quoted).digest('hex').slice(0, 16)}_`
      : undefined;
  }

  async first(name: keyof Statements, values: unknown[]): Promise<readonly unknown[] | undefined> {
    const [row] = await this.rows(name, values);
    return row && columnsOf(row);
  }

  async rows(name: keyof Statements, values: unknown[]): Promise<readonly object[]> {
    const query = { text: this.#sql[name], values };
    const prefix = this.#prefix;
    const { rows } = await this.#client.query(prefix ? { ...query, name: prefix + name } : query);
    return rows;
  }
}
