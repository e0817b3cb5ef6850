import type { LockInspection } from '../../../core/contract/lock-store.js';
import { asInspection, asListed, keyFromHex } from '../common/lock-inspection.js';
import { keyBytes } from '../common/lock-table.js';
import type { Claim, LockTable, OurRow } from '../common/lock-table.js';
import { BEAT, HAND_OFF, HEARTBEAT, WAITERS_PER_BEAT, claimValues } from './postgres-claims.js';
import type { Pass, Standing } from './postgres-claims.js';
import { MILLISECOND, NOW, floor } from './postgres-expressions.js';
import { evictStatement } from '../evict/evict-statement.js';
import { postgresPermitStatements } from './postgres-permit-statements.js';
import { PostgresPermits } from './postgres-permits.js';
import { PostgresStatementRunner } from './postgres-statement-runner.js';
import { postgresStatements } from './postgres-statements.js';
import {
  asBigInt,
  asNumber,
  asText,
  columnsOf,
  isDone,
  isTrueText,
} from '../common/sql-answers.js';
import type { PostgresClient } from '../common/sql-clients.js';

/** Two processes create the table at the same time: the second one finds a name taken (unique_violation, duplicate_table). */
const MADE_MEANWHILE = new Set(['23505', '42710', '42P07']);

const HOW = { hasQueue: true };

export interface PostgresTableOptions {
  readonly quoted: string;
  /** The channel on which waiters are notified. */
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
      evict: evictStatement(quoted, {
        now: NOW,
        until: `${NOW} + $4::float8 * ${MILLISECOND}`,
        floor: floor(NOW),
      }),
    };
    this.#statements = new PostgresStatementRunner(client, quoted, sql, prepare);
    this.permits = new PostgresPermits(this.#statements);
  }

  async acquire(claim: Claim): Promise<bigint | undefined> {
    return tokenIn(await this.#statements.row('acquire', claimValues(claim)));
  }

  async evict(claim: Claim, fencingToken: bigint): Promise<bigint | undefined> {
    const values = [...claimValues(claim), fencingToken.toString()];
    return tokenIn(await this.#statements.row('evict', values));
  }

  async extend(key: string, token: string, ttl: number): Promise<boolean> {
    return (await this.confirm(key, token, ttl)) !== undefined;
  }

  /** Skips rows that another transaction has locked. */
  async extendMany(ours: readonly OurRow[], ttl: number): Promise<ReadonlySet<string>> {
    const list = ours.map(({ key, token }) => [keyBytes(key).toString('hex'), token]);
    const rows = await this.#statements.rows('extendMany', [JSON.stringify(list), ttl]);
    return new Set(rows.map((row) => asText(columnsOf(row, 1)[0])));
  }

  /** As `extend`, for a row that was handed off: its fencing token. */
  async confirm(key: string, token: string, ttl: number): Promise<bigint | undefined> {
    return tokenIn(await this.#statements.row('extend', [keyBytes(key), token, ttl]));
  }

  /** Hands off to the first live waiter. */
  async release(key: string, token: string): Promise<boolean> {
    return isDone(await this.#statements.rows('release', [keyBytes(key), token, HAND_OFF]));
  }

  /**
   * Hands the row over to the next holder in this process, which has the token `next`. Resolves `undefined` when the row is not
   * ours.
   */
  async handOff(key: string, token: string, next: string, ttl: number): Promise<Pass | undefined> {
    const row = await this.#statements.row('handOff', [keyBytes(key), token, ttl, next]);
    if (!row) return undefined;
    const [fencing, isAwaited] = columnsOf(row, 2);
    return { fencing: asBigInt(fencing), isAwaited: isTrueText(isAwaited) };
  }

  /** Takes the row if it is free for us. Otherwise joins its queue, which has to be repeated after `interval` ms. */
  async stand(claim: Claim): Promise<Standing> {
    const row = await this.#statements.row('stand', [...claimValues(claim), HEARTBEAT]);
    const [isOurs, fencing, remaining, length] = columnsOf(row, 4);
    if (isOurs !== null && isTrueText(isOurs)) return { fencing: asBigInt(fencing) };
    const interval = BEAT * Math.max(1, asNumber(length) / WAITERS_PER_BEAT);
    return { remaining: asNumber(remaining), interval };
  }

  /** Milliseconds until the row may be free. `undefined`: it is time to queue again. Writes nothing. */
  async look({ key, token }: Claim): Promise<number | undefined> {
    const row = await this.#statements.row('look', [keyBytes(key), token]);
    if (!row) return undefined;
    const [stays, remaining] = columnsOf(row, 2);
    return stays !== null && isTrueText(stays) ? asNumber(remaining) : undefined;
  }

  async leave(key: string, token: string): Promise<void> {
    await this.#statements.rows('leave', [keyBytes(key), token]);
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    return asInspection(key, await this.#statements.row('inspect', [keyBytes(key)]), HOW);
  }

  async list(from: string, limit: number): Promise<readonly LockInspection[]> {
    return asListed(await this.#statements.rows('list', [keyBytes(from), limit]), keyFromHex, HOW);
  }

  async time(): Promise<number> {
    return asNumber(columnsOf(await this.#statements.row('time', []), 1)[0]);
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

function tokenIn(row: object | undefined): bigint | undefined {
  return row && asBigInt(columnsOf(row, 1)[0]);
}
