import { randomUUID } from 'node:crypto';
import type { Lease } from '../../../core/contract/lock-store.js';
import { takeBack } from '../connections/abandoned-claims.js';
import type { PostgresTable } from './postgres-table.js';
import { SqlLease } from '../common/sql-lease.js';
import { retried } from '../common/sql-retries.js';

/** Maximum number of consecutive grants inside one process while another process waits. */
const LOCAL_HANDOFFS = 8;

/** A lease that may have been handed off, and that can be handed off inside the process while no other process waits. */
export class PostgresLease extends SqlLease {
  readonly #table: PostgresTable;
  /** Hand-offs since the last time when no other process waited. */
  readonly #handoffs: number;

  constructor(
    table: PostgresTable,
    key: string,
    token: string,
    fencingToken?: bigint,
    handoffs: number = 0,
  ) {
    super(table, key, token, fencingToken);
    this.#table = table;
    this.#handoffs = handoffs;
  }

  override async extend(ttl: number): Promise<boolean> {
    const { key, token, isHandedOff } = this;
    if (isHandedOff) return false;
    const { value } = await this.extended(ttl, () =>
      retried(() => this.#table.confirm(key, token, ttl)),
    );
    this.fencingToken ??= value;
    return value !== undefined;
  }

  handOff(ttl: number): Promise<Lease | undefined> | undefined {
    if (this.#handoffs >= LOCAL_HANDOFFS) return undefined;
    this.isHandedOff = true;
    return this.#handOff(ttl);
  }

  /** With a token of its own: an extension of ours that is still under way then changes nothing for the next holder. */
  async #handOff(ttl: number): Promise<Lease | undefined> {
    const { key, token } = this;
    const next = randomUUID();
    try {
      const { value } = await retried(() => this.#table.handOff(key, token, next, ttl));
      if (!value) return undefined;
      const handoffs = value.isAwaited ? this.#handoffs + 1 : 0;
      return new PostgresLease(this.#table, key, next, value.fencing, handoffs);
    } catch (error) {
      for (const either of [token, next]) takeBack(this.#table, key, either, ttl);
      throw error;
    }
  }
}
