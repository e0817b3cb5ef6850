import { validUntil } from '../store/grant.js';
import { GrantedLease } from './granted-lease.js';

/** The part of its ttl that a holder that does not extend its lease may lack: as much as for clocks. A renewal is a command (`bench/contended.mjs`). */
const MOST_SPENT = 1 / 100;

/** The end of a lease: by its ttl, which extensions move, or by `maxHold`, which nothing moves. */
export abstract class LeaseValidity extends GrantedLease {
  /** No further extension is possible: `maxHold` will end the lease. */
  get isFinal(): boolean {
    return !this.context.store.supports.ttl || this.countedFrom + this.ttl >= this.holdUntil;
  }

  /** When the next extension is due. A third of the ttl leaves two more chances after one failed attempt. */
  get extensionDue(): number {
    return this.options.autoExtend && !this.isFinal ? this.countedFrom + this.ttl / 3 : Infinity;
  }

  /** The part of `ttl` that `maxHold` allows: sent to the store. */
  capped(sentAt: number, ttl: number): number {
    return Math.max(1, Math.floor(Math.min(ttl, this.holdUntil - sentAt)));
  }

  isShortenedBy(sentAt: number, ttl: number): boolean {
    return this.untilFor(sentAt, ttl) < this.until;
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
   * Whether the rest of the ttl at `now` is enough for the next holder: its lease is extended before the remaining half ends, or
   * is not extended, and loses no more of it than clocks may. And `maxHold` did not shorten the ttl sent to the store.
   */
  serves(next: { readonly ttl: number; readonly autoExtend: boolean }, now: number): boolean {
    const isWhole = this.countedFrom + this.ttl <= this.holdUntil;
    const isEnough = next.autoExtend
      ? this.until - now >= next.ttl / 2
      : now - this.countedFrom <= next.ttl * MOST_SPENT;
    return isWhole && isEnough && this.ttl === next.ttl;
  }

  /** Counts from now on from a request for `ttl` that was sent at `sentAt`. */
  count(sentAt: number, ttl: number): void {
    this.countedFrom = sentAt;
    this.ttl = ttl;
    this.until = this.untilFor(sentAt, ttl);
  }

  override untilFor(sentAt: number, ttl: number): number {
    if (!this.context.store.supports.ttl) return this.holdUntil;
    const isWhole = sentAt + ttl <= this.holdUntil;
    const counted = isWhole ? ttl : this.capped(sentAt, ttl);
    return Math.min(validUntil(sentAt, counted), this.holdUntil);
  }
}
