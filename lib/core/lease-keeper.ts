import type { Clock } from './clock.js';
import { Fifo } from './fifo.js';
import type { HeldLease } from './held-lease.js';
import { Kept } from './kept.js';
import type { StoreDoubt } from './lock-store.js';
import type { TimerQueue } from './timer-queue.js';

/** From so many leases on, extensions are spread and bundled. */
const MANY = 100;
/** Parts of the ttl by which an extension may come earlier, so that locks taken in one burst are not extended in one. */
const SPREAD = 0.08;
/** Parts of the ttl in which extensions fall due together, so that a store can put them into one call. */
const BUNDLE = 0.01;

/**
 * Extends every held lease of a service from one scheduler, and ends each no later than its validity does, by a deadline
 * of its own that does not depend on any reply.
 */
export class LeaseKeeper {
  readonly #clock: Clock;
  readonly #timers: TimerQueue;
  readonly #kept = new Fifo<Kept<HeldLease>>();

  constructor(clock: Clock, timers: TimerQueue) {
    this.#clock = clock;
    this.#timers = timers;
  }

  get leases(): readonly HeldLease[] {
    return this.#kept.list().map(({ lease }) => lease);
  }

  keep(lease: HeldLease): void {
    const kept = new Kept(lease, this.#dueOf(lease), this.#wake);
    lease.kept = kept;
    this.#kept.add(kept);
    this.#schedule(kept);
  }

  /** For a lease that is held, or has ended since. */
  extended(lease: HeldLease): void {
    const { kept } = lease;
    if (!kept) return;
    kept.extendAt = this.#dueOf(lease);
    if (kept.extensions === 0) this.#schedule(kept);
  }

  ended(lease: HeldLease): void {
    const { kept } = lease;
    if (!kept) return;
    lease.kept = undefined;
    this.#timers.remove(kept);
    this.#kept.remove(kept);
  }

  /** Grants may have been lost: extends each lease that is meant at once, which confirms it or ends it. */
  doubt({ reason, concerns }: StoreDoubt): void {
    for (const kept of this.#kept.list()) {
      const { lease } = kept;
      if (!lease.isHeld || !(concerns?.(lease.keys) ?? true)) continue;
      lease.jeopardise(new Error(reason));
      void this.#extend(kept);
    }
  }

  /** Never later than `extensionDue`. */
  #dueOf({ validity: { extensionDue, ttl } }: HeldLease): number {
    if (this.#kept.size < MANY || extensionDue === Infinity) return extensionDue;
    const bundle = ttl * BUNDLE;
    return Math.floor((extensionDue - Math.random() * ttl * SPREAD) / bundle) * bundle;
  }

  #schedule(kept: Kept<HeldLease>): void {
    const due = Math.min(kept.extendAt, kept.lease.validity.until);
    if (due === Infinity) this.#timers.remove(kept);
    else this.#timers.move(kept, due);
  }

  /** It is time to extend, unless the lease has come to its end or a doubt was first. */
  readonly #wake = (kept: Kept<HeldLease>): void => {
    kept.lease.check();
    if (kept.extensions === 0 && kept.lease.kept) void this.#extend(kept);
  };

  /**
   * Never rejects, and never takes longer than the validity lasts. A failed extension is tried again while validity remains,
   * at a tenth of the ttl.
   */
  async #extend(kept: Kept<HeldLease>): Promise<void> {
    const { lease } = kept;
    kept.extensions++;
    try {
      await lease.extend(lease.nextTtl);
    } catch (error) {
      if (!lease.isHeld) return;
      lease.jeopardise(error);
      kept.extendAt = this.#clock.now() + lease.validity.ttl / 10;
    } finally {
      kept.extensions--;
    }
    if (kept.extensions === 0 && lease.kept) this.#schedule(kept);
  }
}
