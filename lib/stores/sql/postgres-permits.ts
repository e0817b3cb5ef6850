import { keyBytes } from './lock-table.js';
import type { Claim, PermitAnswer, PermitTable } from './lock-table.js';
import { HAND_OVER, claimValues } from './postgres-claims.js';
import type { PostgresStatementRunner } from './postgres-statement-runner.js';

export class PostgresPermits implements PermitTable {
  readonly #statements: PostgresStatementRunner;

  constructor(statements: PostgresStatementRunner) {
    this.#statements = statements;
  }

  async acquire(claim: Claim, permits: number): Promise<PermitAnswer> {
    const row = await this.#statements.first('share', [...claimValues(claim), permits]);
    if (!row) return { isGranted: false };
    const [inUse, isOurs] = row;
    return { isGranted: isOurs === 'true', inUse: Number(inUse) };
  }

  async extend(key: string, token: string, ttl: number): Promise<boolean> {
    return (
      (await this.#statements.first('extendPermit', [keyBytes(key), token, ttl])) !== undefined
    );
  }

  /** The last one hands over to the first waiter that is alive. */
  async release(key: string, token: string): Promise<boolean> {
    return (
      (await this.#statements.first('releasePermit', [keyBytes(key), token, HAND_OVER])) !==
      undefined
    );
  }
}
