import type { LockInspection } from '../../core/lock-store.js';
import { asInspection } from './lock-inspection.js';
import { keyBytes } from './lock-table.js';
import type { Claim, LockTable } from './lock-table.js';
import { HAND_OVER, claimValues } from './postgres-claims.js';
import { postgresPermitStatements } from './postgres-permit-statements.js';
import { PostgresPermits } from './postgres-permits.js';
import { PostgresStatementRunner } from './postgres-statement-runner.js';
import { postgresStatements } from './postgres-statements.js';
import type { PostgresClient } from './sql-clients.js';

/** Two processes that create the table at the same time: the second one finds a name taken (unique_violation, duplicate_table). */
const MADE_MEANWHILE = new Set(['23505', '42710', '42P07']);
/** Milliseconds that a waiter is taken for alive after it was last heard of. */
const HEARTBEAT = 3_000;

/** The fencing token when the row is ours now; else in how many ms it may be free. */
export type Standing = { readonly fencing: bigint } | { readonly remaining: number };

export interface Pass {
  readonly fencing: bigint;
  /** Somebody of another process stands in line. */
  readonly isAwaited: boolean;
}

export interface PostgresTableOptions {
  readonly quoted: string;
  /** On which waiters are notified. */
  readonly channel: string;
  readonly ddl: string;
  readonly prepare: boolean;
}

export class PostgresTable implements LockTable {
  readonly permits: PostgresPermits;
  readonly #client: PostgresClient;
  readonly #ddl: string;
  readonly #statements: PostgresStatementRunner;

  constructor(client: PostgresClient, { quoted, channel, ddl, prepare }: PostgresTableOptions) {
    this.#client = client;
    this.#ddl = ddl;
    const sql = {
      ...postgresStatements(quoted, channel),
      ...postgresPermitStatements(quoted, channel),
    };
    this.#statements = new PostgresStatementRunner(client, quoted, sql, prepare);
    this.permits = new PostgresPermits(this.#statements);
  }

  async acquire(claim: Claim): Promise<bigint | undefined> {
    const row = await this.#statements.first('acquire', claimValues(claim));
    return row && asToken(row[0]);
  }

  async extend(key: string, token: string, ttl: number): Promise<boolean> {
    return (await this.confirm(key, token, ttl)) !== undefined;
  }

  /** As `extend`, for a row that was handed over: its fencing token. */
  async confirm(key: string, token: string, ttl: number): Promise<bigint | undefined> {
    const row = await this.#statements.first('extend', [keyBytes(key), token, ttl]);
    return row && asToken(row[0]);
  }

  /** Hands over to the first waiter that is alive. */
  async release(key: string, token: string): Promise<boolean> {
    return (
      (await this.#statements.first('release', [keyBytes(key), token, HAND_OVER])) !== undefined
    );
  }

  /**
   * Gives the row to the next holder in this process, who has the token `next`. Resolves `undefined` when the row is not ours.
   */
  async pass(key: string, token: string, next: string, ttl: number): Promise<Pass | undefined> {
    const row = await this.#statements.first('pass', [keyBytes(key), token, ttl, next]);
    return row && { fencing: asToken(row[0]), isAwaited: row[1] === 'true' };
  }

  /** Takes the row if it is free for us, else stands in its line, which has to be repeated within a heartbeat. */
  async stand(claim: Claim): Promise<Standing> {
    const row = await this.#statements.first('stand', [...claimValues(claim), HEARTBEAT]);
    const [isOurs, fencing, remaining] = row!;
    return isOurs === 'true' ? { fencing: asToken(fencing) } : { remaining: Number(remaining) };
  }

  async leave(key: string, token: string): Promise<void> {
    await this.#statements.rows('leave', [keyBytes(key), token]);
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    return asInspection(key, await this.#statements.first('inspect', [keyBytes(key)]));
  }

  async sweep(limit: number): Promise<number> {
    return (await this.#statements.rows('sweep', [limit])).length;
  }

  async create(): Promise<void> {
    await this.#client
      .query({ text: this.#ddl, values: [] })
      .catch((error: { readonly code?: string }) => {
        if (!MADE_MEANWHILE.has(error.code ?? '')) throw error;
      });
  }
}

function asToken(fencing: unknown): bigint {
  return BigInt(String(fencing));
}
