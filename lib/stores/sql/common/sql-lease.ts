import type { Lease } from '../../../core/contract/lock-store.js';
import type { Holdings } from './lock-table.js';
import { retried } from './sql-retries.js';

/** A row with our token, or with a permit of ours. */
export class SqlLease implements Lease {
  fencingToken: bigint | undefined;
  readonly key: string;
  readonly token: string;
  /** Another caller in this process has the row now, or gets it. */
  protected isHandedOff = false;
  readonly #table: Holdings;
  /** Unanswered extensions, and their ttl. */
  readonly #underWay = new Map<Promise<unknown>, number>();

  constructor(table: Holdings, key: string, token: string, fencingToken?: bigint) {
    this.#table = table;
    this.key = key;
    this.token = token;
    this.fencingToken = fencingToken;
  }

  extend(ttl: number): Promise<boolean> {
    return this.extended(ttl, async () => {
      const { value } = await retried(() => this.#table.extend(this.key, this.token, ttl));
      return value;
    });
  }

  /**
   * Whether a statement for many rows may extend this lease. Not if it is a permit, or while an extension with a shorter ttl is
   * unanswered.
   */
  mayBeBundled(ttl: number): boolean {
    if (this.fencingToken === undefined || this.isHandedOff) return false;
    return this.#shorterThan(ttl).length === 0;
  }

  /** A statement for many rows extends this one. Never rejects. */
  extendedBy(extension: Promise<unknown>, ttl: number): void {
    this.#underWay.set(extension, ttl);
    this.#table.holds?.(ttl);
    const over = () => void this.#underWay.delete(extension);
    extension.then(over, over);
  }

  async release(): Promise<boolean> {
    if (this.isHandedOff) return false;
    const { value, isRepeated } = await retried(() => this.#table.release(this.key, this.token));
    if (value || !isRepeated) return value;
    throw new Error('the connection was lost during the release, which may have been done before');
  }

  /**
   * Two extensions that are under way on two connections are applied in either order. Core counts on the one that it sent last,
   * so that one waits for those with a shorter ttl.
   */
  protected async extended<T>(ttl: number, extend: () => Promise<T>): Promise<T> {
    const extension = Promise.allSettled(this.#shorterThan(ttl)).then(extend);
    this.extendedBy(extension, ttl); // before the first await: the next extension may come in the same turn of the event loop
    return extension;
  }

  #shorterThan(ttl: number): Promise<unknown>[] {
    return Array.from(this.#underWay).flatMap(([extension, other]) =>
      other < ttl ? extension : [],
    );
  }
}
