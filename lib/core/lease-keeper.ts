import type { Clock } from './clock.js';
import type { HeldLease } from './held-lease.js';
import type { StoreDoubt } from './lock-store.js';
import type { QueuedTimer, TimerQueue } from './timer-queue.js';

/** From so many leases on, extensions are spread and bundled. */
const MANY = 100;
/** Parts of the ttl by which an extension may come earlier, so that locks taken in one burst are not extended in one. */
const SPREAD = 0.08;
/** Parts of the ttl in which extensions fall due together, so that a store can put them into one call. */
const BUNDLE = 0.01;

/** A lease, as an entry in the line of what is due next. */
class Kept implements QueuedTimer {
  due = Infinity;
  index = -1;
  extendAt: number;
  /** How many are asked for or under way: a doubt asks for one more. */
  extensions = 0;
  readonly #lease: HeldLease;
  readonly #wake: (lease: HeldLease, kept: Kept) => void;

  constructor(lease: HeldLease, extendAt: number, wake: (lease: HeldLease, kept: Kept) => void) {
    this.#lease = lease;
    this.extendAt = extendAt;
    this.#wake = wake;
  }

  run(): void {
    this.#wake(this.#lease, this);
  }
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
    const kept = new Kept(lease, this.#dueOf(lease), this.#wake);
    this.#kept.set(lease, kept);
    this.#schedule(lease, kept);
  }

  /** For a lease that is held, and so is kept. */
  extended(lease: HeldLease): void {
    const kept = this.#kept.get(lease)!;
    kept.extendAt = this.#dueOf(lease);
    if (kept.extensions === 0) this.#schedule(lease, kept);
  }

  ended(lease: HeldLease): void {
    const kept = this.#kept.get(lease);
    if (kept) this.#timers.remove(kept);
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

  #schedule(lease: HeldLease, kept: Kept): void {
    const due = Math.min(kept.extendAt, lease.validity.until);
    if (due === Infinity) this.#timers.remove(kept);
    else this.#timers.move(kept, due);
  }

  /** It is time to extend, unless the lease has come to its end or a doubt was first. */
  readonly #wake = (lease: HeldLease, kept: Kept): void => {
    lease.check();
    if (kept.extensions === 0 && this.#kept.has(lease)) void this.#extend(lease, kept);
  };

  /**
   * Never rejects, and never takes longer than the validity lasts. A failed extension is tried again while validity remains,
   * at a tenth of the ttl.
   */
  async #extend(lease: HeldLease, kept: Kept): Promise<void> {
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
    if (kept.extensions === 0 && this.#kept.has(lease)) this.#schedule(lease, kept);
  }
}
