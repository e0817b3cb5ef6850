import type { Lease } from '../../core/lock-store.js';
import type { LockTable } from './lock-table.js';
import { retried } from './sql-retries.js';

/** A row that carries our token. */
export class SqlLease implements Lease {
  fencingToken: bigint | undefined;
  protected readonly key: string;
  protected readonly token: string;
  /** Somebody else in this process has the row now, under the same token. */
  protected isPassedOn = false;
  readonly #table: LockTable;

  constructor(table: LockTable, key: string, token: string, fencingToken: bigint | undefined) {
    this.#table = table;
    this.key = key;
    this.token = token;
    this.fencingToken = fencingToken;
  }

  async extend(ttl: number): Promise<boolean> {
    return (await retried(() => this.#table.extend(this.key, this.token, ttl))).value;
  }

  async release(): Promise<boolean> {
    if (this.isPassedOn) return false;
    const { value, isRepeated } = await retried(() => this.#table.release(this.key, this.token));
    if (value || !isRepeated) return value;
    throw new Error('the connection was lost during the release, which may have been done before');
  }
}
