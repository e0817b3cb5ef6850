import type { Lease } from '../../core/lock-store.js';
import type { Holdings } from './lock-table.js';
import { retried } from './sql-retries.js';

/** A row that carries our token, or a permit of one. */
export class SqlLease implements Lease {
  fencingToken: bigint | undefined;
  readonly key: string;
  readonly token: string;
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

  /** Whether a statement for many rows may extend this one: a permit is none, and a shorter ttl that is under way comes first. */
  mayShareExtension(ttl: number): boolean {
    if (this.fencingToken === undefined || this.isPassedOn) return false;
    return this.#shorterThan(ttl).length === 0;
  }

  /** A statement for many rows extends this one. Never rejects. */
  extendedBy(extension: Promise<unknown>, ttl: number): void {
    this.#underWay.set(extension, ttl);
    const over = () => void this.#underWay.delete(extension);
    extension.then(over, over);
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
    const extension = Promise.allSettled(this.#shorterThan(ttl)).then(extend);
    this.extendedBy(extension, ttl); // before anything is awaited: the next one may come in the same turn
    return extension;
  }

  #shorterThan(ttl: number): Promise<unknown>[] {
    return Array.from(this.#underWay).flatMap(([extension, other]) =>
      other < ttl ? extension : [],
    );
  }
}
