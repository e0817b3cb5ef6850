import type { Lease } from '../../core/lock-store.js';
import type { Holdings } from './lock-table.js';
import { retried } from './sql-retries.js';

/** A row that carries our token, or a permit of one. */
export class SqlLease implements Lease {
  fencingToken: bigint | undefined;
  protected readonly key: string;
  protected readonly token: string;
  /** Somebody else in this process has the row now, or gets it. */
  protected isPassedOn = false;
  readonly #table: Holdings;
  /** Extensions that were not answered yet, and their ttl. */
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

  async release(): Promise<boolean> {
    if (this.isPassedOn) return false;
    const { value, isRepeated } = await retried(() => this.#table.release(this.key, this.token));
    if (value || !isRepeated) return value;
    throw new Error('the connection was lost during the release, which may have been done before');
  }

  /**
   * Two that are under way on two connections are applied in either order, and core counts on the one that it sent last: it
   * waits for those with a shorter ttl.
   */
  protected async extended<T>(ttl: number, extend: () => Promise<T>): Promise<T> {
    const shorter = Array.from(this.#underWay).filter(([, other]) => other < ttl);
    const answers = Promise.allSettled(shorter.map(([extension]) => extension));
    const extension = answers.then(extend);
    this.#underWay.set(extension, ttl); // before anything is awaited: the next one may come in the same turn
    try {
      return await extension;
    } finally {
      this.#underWay.delete(extension);
    }
  }
}
