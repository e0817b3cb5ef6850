import { createHash } from 'node:crypto';
import type { PostgresPermitStatements } from './postgres-permit-statements.js';
import type { PostgresStatements } from './postgres-statements.js';
import { LONGEST_ANSWER, boundConnecting } from '../connections/hung-connections.js';
import { OpenTransactionError, transactionsOf } from '../common/open-transaction.js';
import { asRow, asRows } from '../common/sql-answers.js';
import type { PostgresClient } from '../common/sql-clients.js';

type Statements = PostgresStatements & PostgresPermitStatements & { readonly evict: string };

/** Sends the statements on one table by their names. Connections use the same names for prepared statements. */
export class PostgresStatementRunner {
  readonly #client: PostgresClient;
  readonly #sql: Statements;
  /** For the names of prepared statements. */
  readonly #prefix: string | undefined;
  readonly #isInTransaction: () => boolean;

  constructor(client: PostgresClient, quoted: string, sql: Statements, prepare: boolean) {
    this.#client = client;
    this.#sql = sql;
    this.#isInTransaction = transactionsOf(client);
    this.#prefix = prepare
      ? `holdfast_${createHash('sha256').update(quoted).digest('hex').slice(0, 16)}_`
      : undefined;
  }

  /** The row of a statement that returns at most one. */
  async row(name: keyof Statements, values: unknown[]): Promise<object | undefined> {
    return asRow(await this.rows(name, values));
  }

  async rows(name: keyof Statements, values: unknown[]): Promise<readonly object[]> {
    const query = { text: this.#sql[name], values, query_timeout: LONGEST_ANSWER };
    const prefix = this.#prefix;
    this.#checkTransaction();
    const asked = this.#client.query(prefix ? { ...query, name: prefix + name } : query);
    const cancel = boundConnecting(this.#client);
    const answer = await asked.finally(cancel);
    this.#checkTransaction(); // one may have begun before this statement was sent
    return asRows(answer?.rows);
  }

  #checkTransaction(): void {
    if (this.#isInTransaction()) throw new OpenTransactionError();
  }
}
