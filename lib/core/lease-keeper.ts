import type { Clock } from './clock.js';
import type { HeldLease } from './held-lease.js';
import type { StoreDoubt } from './lock-store.js';
import { idleTimer } from './timer-queue.js';
import type { QueuedTimer, TimerQueue } from './timer-queue.js';

/** From so many leases on, extensions are spread and bundled. */
const MANY = 100;
/** Parts of the ttl by which an extension may come earlier, so that locks taken in one burst are not extended in one. */
const SPREAD = 0.08;
/** Parts of the ttl in which extensions fall due together, so that a store can put them into one call. */
const BUNDLE = 0.01;

interface Kept {
  readonly timer: QueuedTimer;
  extendAt: number;
  isExtending: boolean;
}

/**
 * Extends every held lease of a service from one scheduler, and ends each no later than its validity does, by a deadline
 * of its own that does not depend on any reply.
 */
export class LeaseKeeper {
  readonly #clock: Clock;
  readonly #timers: TimerQueue;
  readonly #kept = new Map<HeldLease, Kept>();

  constructor(clock: Clock, timers: TimerQueue) {
    this.#clock = clock;
    this.#timers = timers;
  }

  get leases(): Iterable<HeldLease> {
    return this.#kept.keys();
  }

  keep(lease: HeldLease): void {
    const timer = idleTimer(() => this.#wake(lease, kept));
    const kept: Kept = { timer, extendAt: this.#dueOf(lease), isExtending: false };
    this.#kept.set(lease, kept);
    this.#schedule(lease, kept);
  }

  /** For a lease that is held, and so is kept. */
  extended(lease: HeldLease): void {
    const kept = this.#kept.get(lease)!;
    kept.extendAt = this.#dueOf(lease);
    if (!kept.isExtending) this.#schedule(lease, kept);
  }

  ended(lease: HeldLease): void {
    const kept = this.#kept.get(lease);
    if (kept) this.#timers.remove(kept.timer);
    this.#kept.delete(lease);
  }

  /** Grants may have been lost: extends each lease that is meant at once, which confirms it or ends it. */
  doubt({ reason, concerns }: StoreDoubt): void {
    for (const [lease, kept] of this.#kept) {
      if (!lease.isHeld || !(concerns?.(lease.keys) ?? true)) continue;
      lease.jeopardise(new Error(reason));
      void this.#extend(lease, kept);
    }
  }

  /** Never later than `extensionDue`. */
  #dueOf({ validity: { extensionDue, ttl } }: HeldLease): number {
    if (this.#kept.size < MANY || extensionDue === Infinity) return extensionDue;
    const bundle = ttl * BUNDLE;
    return Math.floor((extensionDue - Math.random() * ttl * SPREAD) / bundle) * bundle;
  }

  #schedule(lease: HeldLease, { timer, extendAt }: Kept): void {
    const due = Math.min(extendAt, lease.validity.until);
    if (due === Infinity) this.#timers.remove(timer);
    else this.#timers.move(timer, due);
  }

  /** It is time to extend, unless the lease has come to its end. */
  #wake(lease: HeldLease, kept: Kept): void {
    lease.check();
    if (this.#kept.has(lease)) void this.#extend(lease, kept);
  }

  /**
   * Never rejects, and never takes longer than the validity lasts. A failed extension is tried again while validity remains,
   * at a tenth of the ttl.
   */
  async #extend(lease: HeldLease, kept: Kept): Promise<void> {
    kept.isExtending = true;
    try {
      await lease.extend(lease.nextTtl);
    } catch (error) {
      if (!lease.isHeld) return;
      lease.jeopardise(error);
      kept.extendAt = this.#clock.now() + lease.validity.ttl / 10;
    } finally {
      kept.isExtending = false;
    }
    if (this.#kept.has(lease)) this.#schedule(lease, kept);
  }
}
