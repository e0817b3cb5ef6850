import type { ResolvedLockOptions } from '../options/lock-options.js';

/**
 * Validity of a grant: `ttl` minus 1 % for clocks that run at slightly different rates, minus 2 ms for the store's own
 * granularity, counted from BEFORE the request was sent. The formula is that of the Redlock specification
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/).
 */
export function validUntil(sentAt: number, ttl: number): number {
  return sentAt + ttl - (ttl * 0.01 + 2);
}

/** The end of a lease: by its ttl, which extensions move, or by `maxHold`, which nothing moves. */
export class Validity {
  readonly #hasTtl: boolean;
  readonly #autoExtend: boolean;
  readonly #holdUntil: number;
  /** The ttl of the next extension. */
  ttl: number;
  /** Send time of the request that the ttl counts from. */
  countedFrom: number;
  until: number;

  /** `hasTtl` is the store's `supports.ttl`. Without it, only `maxHold` ends the lease, counted from `heldFrom`. */
  constructor(
    sentAt: number,
    ttl: number,
    options: ResolvedLockOptions,
    hasTtl: boolean,
    heldFrom = sentAt,
  ) {
    this.#hasTtl = hasTtl;
    this.#autoExtend = options.autoExtend;
    this.#holdUntil = heldFrom + options.maxHold;
    this.ttl = ttl;
    this.countedFrom = sentAt;
    this.until = this.#untilFor(sentAt, ttl);
  }

  /** No further extension is possible: `maxHold` will end the lease. */
  get isFinal(): boolean {
    return !this.#hasTtl || this.countedFrom + this.ttl >= this.#holdUntil;
  }

  /** When the next extension is due. A third of the ttl leaves two more chances after one failed attempt. */
  get extensionDue(): number {
    return this.#autoExtend && !this.isFinal ? this.countedFrom + this.ttl / 3 : Infinity;
  }

  /** The part of `ttl` that `maxHold` allows: sent to the store. */
  capped(sentAt: number, ttl: number): number {
    return Math.max(1, Math.floor(Math.min(ttl, this.#holdUntil - sentAt)));
  }

  isShortenedBy(sentAt: number, ttl: number): boolean {
    return this.#untilFor(sentAt, ttl) < this.until;
  }

  /**
   * Whether an extension for `ttl` at `now` equals the automatic one that is due, with a tenth of the ttl or more left until the
   * end.
   */
  isRepeatedBy(now: number, ttl: number): boolean {
    if (this.ttl !== ttl || this.extensionDue === Infinity) return false;
    return this.capped(now, ttl) === ttl && this.until - now >= ttl / 10;
  }

  /**
   * Whether the rest of the ttl at `now` is enough for the next holder: its lease is extended before the remaining half ends,
   * and `maxHold` did not shorten the ttl sent to the store.
   */
  serves(next: { readonly ttl: number; readonly autoExtend: boolean }, now: number): boolean {
    const isWhole = this.countedFrom + this.ttl <= this.#holdUntil;
    const isHalf = this.until - now >= next.ttl / 2;
    return next.autoExtend && isWhole && isHalf && this.ttl === next.ttl;
  }

  /** Counts from now on from a request for `ttl` that was sent at `sentAt`. */
  count(sentAt: number, ttl: number): void {
    this.countedFrom = sentAt;
    this.ttl = ttl;
    this.until = this.#untilFor(sentAt, ttl);
  }

  #untilFor(sentAt: number, ttl: number): number {
    if (!this.#hasTtl) return this.#holdUntil;
    return Math.min(validUntil(sentAt, this.capped(sentAt, ttl)), this.#holdUntil);
  }
}
