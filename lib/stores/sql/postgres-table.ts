import { createHash } from 'node:crypto';
import type { LockInspection } from '../../core/lock-store.js';
import { asInspection, columnsOf, keyBytes } from './lock-table.js';
import type { Claim, LockTable } from './lock-table.js';
import { postgresStatements } from './postgres-statements.js';
import type { PostgresStatements } from './postgres-statements.js';
import type { PostgresClient } from './sql-clients.js';

/** Two processes that create the table at the same time: the second one finds a name taken (unique_violation, duplicate_table). */
const MADE_MEANWHILE = new Set(['23505', '42P07']);
/** Milliseconds that a key is kept for a waiter to whom it was handed over, until it answers: more than between two beats. */
const CLAIM = 1_500;
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
  readonly #client: PostgresClient;
  readonly #ddl: string;
  readonly #sql: PostgresStatements;
  /** Of the names of prepared statements. */
  readonly #prefix: string | undefined;

  constructor(client: PostgresClient, { quoted, channel, ddl, prepare }: PostgresTableOptions) {
    this.#client = client;
    this.#ddl = ddl;
    this.#sql = postgresStatements(quoted, channel);
    this.#prefix = prepare
      ? `holdfast_${createHash('sha256').update(quoted).digest('hex').slice(0, 16)}_`
      : undefined;
  }

  async acquire(claim: Claim): Promise<bigint | undefined> {
    const row = await this.#first('acquire', valuesOf(claim));
    return row && asToken(row[0]);
  }

  async extend(key: string, token: string, ttl: number): Promise<boolean> {
    return (await this.confirm(key, token, ttl)) !== undefined;
  }

  /** As `extend`, for a row that was handed over: its fencing token. */
  async confirm(key: string, token: string, ttl: number): Promise<bigint | undefined> {
    const row = await this.#first('extend', [keyBytes(key), token, ttl]);
    return row && asToken(row[0]);
  }

  /** Hands over to the first waiter that is alive. */
  async release(key: string, token: string): Promise<boolean> {
    return (await this.#first('release', [keyBytes(key), token, CLAIM])) !== undefined;
  }

  /**
   * Gives the row to the next holder in this process, who has the token `next`. Resolves `undefined` when the row is not ours.
   */
  async pass(key: string, token: string, next: string, ttl: number): Promise<Pass | undefined> {
    const row = await this.#first('pass', [keyBytes(key), token, ttl, next]);
    return row && { fencing: asToken(row[0]), isAwaited: row[1] === 'true' };
  }

  /** Takes the row if it is free for us, else stands in its line, which has to be repeated within a heartbeat. */
  async stand(claim: Claim): Promise<Standing> {
    const row = await this.#first('stand', [...valuesOf(claim), HEARTBEAT]);
    const [isOurs, fencing, remaining] = row!;
    return isOurs === 'true' ? { fencing: asToken(fencing) } : { remaining: Number(remaining) };
  }

  async leave(key: string, token: string): Promise<void> {
    await this.#rows('leave', [keyBytes(key), token]);
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    return asInspection(key, await this.#first('inspect', [keyBytes(key)]));
  }

  async sweep(limit: number): Promise<number> {
    return (await this.#rows('sweep', [limit])).length;
  }

  async create(): Promise<void> {
    await this.#client
      .query({ text: this.#ddl, values: [] })
      .catch((error: { readonly code?: string }) => {
        if (!MADE_MEANWHILE.has(error.code ?? '')) throw error;
      });
  }

  async #first(
    name: keyof PostgresStatements,
    values: unknown[],
  ): Promise<readonly unknown[] | undefined> {
    const [row] = await this.#rows(name, values);
    return row && columnsOf(row);
  }

  async #rows(name: keyof PostgresStatements, values: unknown[]): Promise<readonly object[]> {
    const query = { text: this.#sql[name], values };
    const prefix = this.#prefix;
    const { rows } = await this.#client.query(prefix ? { ...query, name: prefix + name } : query);
    return rows;
  }
}

function asToken(fencing: unknown): bigint {
  return BigInt(String(fencing));
}

function valuesOf({ key, token, holder, ttl, fencingFloor }: Claim): unknown[] {
  return [keyBytes(key), token, holder ?? null, ttl, fencingFloor?.toString() ?? null];
}
