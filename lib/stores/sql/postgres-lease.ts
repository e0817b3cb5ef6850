import { randomUUID } from 'node:crypto';
import type { FencingRange, Lease } from '../../core/lock-store.js';
import { takeBack } from './abandoned-claims.js';
import type { PostgresTable } from './postgres-table.js';
import { SqlLease } from './sql-lease.js';
import { retried } from './sql-retries.js';

/** Grants in a row inside a process after which it lets others have the key. */
const LOCAL_PASSES = 8;

/** A lease that may have been handed over, and can be passed on inside the process while nobody else waits. */
export class PostgresLease extends SqlLease {
  readonly #table: PostgresTable;
  /** Passes since the last time when nobody else waited. */
  readonly #passes: number;

  constructor(
    table: PostgresTable,
    key: string,
    token: string,
    fencingToken?: bigint,
    passes: number = 0,
  ) {
    super(table, key, token, fencingToken);
    this.#table = table;
    this.#passes = passes;
  }

  override async extend(ttl: number): Promise<boolean> {
    const { key, token, isPassedOn } = this;
    if (isPassedOn) return false;
    const { value } = await this.extended(ttl, () =>
      retried(() => this.#table.confirm(key, token, ttl)),
    );
    this.fencingToken ??= value;
    return value !== undefined;
  }

  passOn(
    ttl: number,
    _renew: boolean,
    tokens?: FencingRange,
  ): Promise<Lease | undefined> | undefined {
    if (tokens !== undefined || this.#passes >= LOCAL_PASSES) return undefined;
    this.isPassedOn = true;
    return this.#passOn(ttl);
  }

  /** With a token of its own, so that an extension of ours which is still under way changes nothing for the next holder. */
  async #passOn(ttl: number): Promise<Lease | undefined> {
    const { key, token } = this;
    const next = randomUUID();
    try {
      const { value } = await retried(() => this.#table.pass(key, token, next, ttl));
      if (!value) return undefined;
      const passes = value.isAwaited ? this.#passes + 1 : 0;
      return new PostgresLease(this.#table, key, next, value.fencing, passes);
    } catch (error) {
      for (const either of [token, next]) takeBack(this.#table, key, either, ttl);
      throw error;
    }
  }
}
