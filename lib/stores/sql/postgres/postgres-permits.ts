import { keyBytes } from '../common/lock-table.js';
import type { Claim, PermitAnswer, PermitTable } from '../common/lock-table.js';
import { HAND_OFF, claimValues } from './postgres-claims.js';
import type { PostgresStatementRunner } from './postgres-statement-runner.js';
import { asWhole, columnsOf, isDone, isTrueText } from '../common/sql-answers.js';

export class PostgresPermits implements PermitTable {
  readonly #statements: PostgresStatementRunner;

  constructor(statements: PostgresStatementRunner) {
    this.#statements = statements;
  }

  async acquire(claim: Claim, permits: number): Promise<PermitAnswer> {
    const row = await this.#statements.row('share', [...claimValues(claim), permits]);
    if (!row) return { isGranted: false };
    const [inUse, isOurs] = columnsOf(row, 2);
    return { isGranted: isTrueText(isOurs), inUse: asWhole(inUse) };
  }

  async extend(key: string, token: string, ttl: number): Promise<boolean> {
    return isDone(await this.#statements.rows('extendPermit', [keyBytes(key), token, ttl]));
  }

  /** The last sharer hands the row over to the first live waiter. */
  async release(key: string, token: string): Promise<boolean> {
    return isDone(await this.#statements.rows('releasePermit', [keyBytes(key), token, HAND_OFF]));
  }
}
