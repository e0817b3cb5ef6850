import type { Clock } from './clock.js';
import { Fifo } from './fifo.js';
import type { HeldLease } from './held-lease.js';
import { Kept } from './kept.js';
import { LeaseBundles, MOST_IN_BUNDLE } from './lease/lease-bundles.js';
import { SharedExtension } from './lease/shared-extension.js';
import type { LockStore, StoreDoubt } from './lock-store.js';
import type { StoreCalls } from './store-call.js';
import type { TimerQueue } from './timer-queue.js';

/** From so many leases on, extensions are spread and bundled. */
const MANY = 100;

/**
 * Extends every held lease of a service from one scheduler, and ends each no later than its validity does, by a deadline
 * of its own that does not depend on any reply.
 */
export class LeaseKeeper {
  readonly #store: LockStore;
  readonly #clock: Clock;
  readonly #timers: TimerQueue;
  readonly #calls: StoreCalls;
  readonly #kept = new Fifo<Kept<HeldLease>>();
  readonly #bundles: LeaseBundles<HeldLease>;

  constructor(store: LockStore, clock: Clock, timers: TimerQueue, calls: StoreCalls) {
    this.#store = store;
    this.#clock = clock;
    this.#timers = timers;
    this.#calls = calls;
    this.#bundles = new LeaseBundles(timers, (due, ttl) => {
      const free = due.filter(({ extensions }) => extensions === 0); // a doubt was first
      this.#extendAll(free, ttl);
    });
  }

  get leases(): readonly HeldLease[] {
    return this.#kept.list().map(({ lease }) => lease);
  }

  keep(lease: HeldLease): void {
    const kept = new Kept(lease, lease.validity.extensionDue, this.#wake);
    lease.kept = kept;
    this.#kept.add(kept);
    this.#schedule(kept);
  }

  /** For a lease that is held, or has ended since. */
  extended(lease: HeldLease): void {
    const { kept } = lease;
    if (!kept) return;
    kept.extendAt = lease.validity.extensionDue;
    if (kept.extensions === 0) this.#schedule(kept);
  }

  ended(lease: HeldLease): void {
    const { kept } = lease;
    if (!kept) return;
    lease.kept = undefined;
    this.#timers.remove(kept);
    this.#bundles.leave(kept);
    this.#kept.remove(kept);
  }

  /** Grants may have been lost: extends each lease that is meant at once, which confirms it or ends it. */
  doubt({ reason, concerns }: StoreDoubt): void {
    const meant = new Map<number, Kept<HeldLease>[]>();
    for (const kept of this.#kept.list()) {
      const { lease } = kept;
      if (!lease.isHeld || !(concerns?.(lease.keys) ?? true)) continue;
      lease.jeopardise(new Error(reason));
      const { ttl } = lease.validity;
      const group = meant.get(ttl);
      if (group) group.push(kept);
      else meant.set(ttl, [kept]);
    }
    for (const [ttl, group] of meant) this.#extendAll(group, ttl);
  }

  #schedule(kept: Kept<HeldLease>): void {
    const { until, ttl } = kept.lease.validity;
    this.#bundles.leave(kept);
    const due = Math.min(kept.extendAt, until);
    if (this.#kept.size >= MANY && kept.extendAt < until) {
      this.#timers.remove(kept);
      this.#bundles.join(kept, ttl, due);
    } else if (due === Infinity) this.#timers.remove(kept);
    else this.#timers.move(kept, due);
  }

  /** It is time to extend, unless the lease has come to its end or a doubt was first. */
  readonly #wake = (kept: Kept<HeldLease>): void => {
    kept.lease.check();
    if (kept.extensions === 0 && kept.lease.kept) void this.#extend(kept);
  };

  /** What may share calls does. */
  #extendAll(due: readonly Kept<HeldLease>[], ttl: number): void {
    const now = this.#clock.now();
    let sharing: HeldLease[] = [];
    for (const kept of due) {
      const { lease } = kept;
      lease.check();
      if (!lease.kept) continue;
      if (!this.#store.extendMany || !lease.mayShareExtension(ttl, now)) void this.#extend(kept);
      else if (sharing.push(lease) === MOST_IN_BUNDLE) {
        this.#extendTogether(sharing, ttl, now);
        sharing = [];
      }
    }
    if (sharing.length > 0) this.#extendTogether(sharing, ttl, now);
  }

  #extendTogether(leases: readonly HeldLease[], ttl: number, sentAt: number): void {
    for (const { kept } of leases) kept!.extensions++;
    const answered = (lease: HeldLease, answer: unknown) => {
      const { kept } = lease;
      if (kept) kept.extensions--;
      lease.extended(sentAt, ttl, answer);
      if (lease.kept && typeof answer !== 'boolean') this.#failed(lease.kept);
    };
    new SharedExtension(this.#store, leases, ttl, sentAt, answered).send(this.#calls);
  }

  /**
   * Never rejects, and never takes longer than the validity lasts. A failed extension is tried again while validity remains,
   * at a tenth of the ttl.
   */
  async #extend(kept: Kept<HeldLease>): Promise<void> {
    const { lease } = kept;
    kept.extensions++;
    try {
      await lease.extend(lease.nextTtl);
      kept.extensions--;
      if (lease.kept) this.extended(lease);
    } catch (error) {
      kept.extensions--;
      if (!lease.isHeld) return;
      lease.jeopardise(error);
      this.#failed(kept);
    }
  }

  /** Tries again at a tenth of the ttl. */
  #failed(kept: Kept<HeldLease>): void {
    kept.extendAt = this.#clock.now() + kept.lease.validity.ttl / 10;
    if (kept.extensions === 0) this.#schedule(kept);
  }
}
