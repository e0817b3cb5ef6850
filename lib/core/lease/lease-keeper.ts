import type { Clock } from '../async/clock.js';
import { LinkedQueue } from '../queue/linked-queue.js';
import type { HeldLease } from './held-lease.js';
import { LeaseBundles, MOST_IN_BUNDLE } from './lease-bundles.js';
import { BundledExtension } from './bundled-extension.js';
import type { LockStore, StoreDoubt } from '../contract/lock-store.js';
import type { StoreCalls } from '../store/store-call.js';
import type { TimerQueue } from '../async/timer-queue.js';

/** From this many leases on, extensions are spread and bundled. */
const MANY = 100;

/**
 * Extends every held lease of a service from one scheduler. Ends each no later than its validity, by a deadline that does not
 * depend on any reply.
 */
export class LeaseKeeper {
  readonly #store: LockStore;
  readonly #clock: Clock;
  readonly #timers: TimerQueue;
  readonly #calls: StoreCalls;
  readonly #kept = new LinkedQueue<HeldLease>();
  readonly #bundles: LeaseBundles<HeldLease>;
  /** Called after the end of each lease. */
  onEnded: (() => void) | undefined;

  constructor(store: LockStore, clock: Clock, timers: TimerQueue, calls: StoreCalls) {
    this.#store = store;
    this.#clock = clock;
    this.#timers = timers;
    this.#calls = calls;
    this.#bundles = new LeaseBundles(timers, (due, ttl) => {
      const free = due.filter(({ extensions }) => extensions === 0); // a doubt has already requested one
      this.#extendAll(free, ttl);
    });
  }

  get leases(): readonly HeldLease[] {
    return this.#kept.list();
  }

  keep(lease: HeldLease): void {
    lease.isKept = true;
    lease.extendAt = lease.extensionDue;
    this.#kept.add(lease);
    if (lease.overdueWatch) this.#timers.move(lease.overdueWatch, lease.overdueWatch.at);
    this.#schedule(lease);
  }

  /** For a lease that is held, or has ended since. */
  extended(lease: HeldLease): void {
    if (!lease.isKept) return;
    lease.extendAt = lease.extensionDue;
    if (lease.extensions === 0) this.#schedule(lease);
  }

  ended(lease: HeldLease): void {
    if (!lease.isKept) return;
    lease.isKept = false;
    this.#timers.remove(lease);
    if (lease.overdueWatch) this.#timers.remove(lease.overdueWatch);
    if (lease.bundle) this.#bundles.leave(lease);
    this.#kept.remove(lease);
    this.onEnded?.();
  }

  /** Grants may have been lost: extends each affected lease at once, which confirms or ends it. */
  doubt({ reason, concerns }: StoreDoubt): void {
    const meant = new Map<number, HeldLease[]>();
    for (const lease of this.#kept.list()) {
      if (!lease.isHeld || !(concerns?.(lease.keys) ?? true)) continue;
      lease.jeopardise(new Error(reason));
      const { ttl } = lease;
      const group = meant.get(ttl);
      if (group) group.push(lease);
      else meant.set(ttl, [lease]);
    }
    for (const [ttl, group] of meant) this.#extendAll(group, ttl);
  }

  /** It is time to extend, unless the lease has ended or a doubt has already requested it. */
  wake(lease: HeldLease): void {
    lease.look();
    if (lease.extensions === 0 && lease.isKept) void this.#extend(lease);
  }

  #schedule(lease: HeldLease): void {
    const { until, ttl } = lease;
    if (lease.bundle) this.#bundles.leave(lease);
    const due = Math.min(lease.extendAt, until);
    if (this.#kept.size >= MANY && lease.extendAt < until) {
      this.#timers.remove(lease);
      this.#bundles.join(lease, ttl, due);
    } else if (due === Infinity) this.#timers.remove(lease);
    else this.#timers.move(lease, due);
  }

  /** Leases that may share a call do. */
  #extendAll(due: readonly HeldLease[], ttl: number): void {
    const now = this.#clock.now();
    let sharing: HeldLease[] = [];
    for (const lease of due) {
      lease.look();
      if (!lease.isKept) continue;
      if (!this.#store.extendMany || !lease.mayBeBundled(ttl, now)) void this.#extend(lease);
      else if (sharing.push(lease) === MOST_IN_BUNDLE) {
        this.#extendTogether(sharing, ttl, now);
        sharing = [];
      }
    }
    if (sharing.length > 0) this.#extendTogether(sharing, ttl, now);
  }

  #extendTogether(leases: readonly HeldLease[], ttl: number, sentAt: number): void {
    for (const lease of leases) lease.extensions++;
    const answered = (lease: HeldLease, answer: unknown) => {
      lease.extensions--;
      lease.extended(sentAt, ttl, answer);
      if (lease.isKept && typeof answer !== 'boolean') this.#failed(lease);
    };
    new BundledExtension(this.#store, leases, ttl, sentAt, answered).send(this.#calls);
  }

  /**
   * Never rejects, and never takes longer than the validity lasts. A failed extension is tried again while validity remains,
   * at a tenth of the ttl.
   */
  async #extend(lease: HeldLease): Promise<void> {
    lease.extensions++;
    try {
      await lease.extend(); // the caller may have changed the ttl meanwhile
      lease.extensions--;
      this.extended(lease);
    } catch (error) {
      lease.extensions--;
      if (!lease.isHeld) return;
      lease.jeopardise(error);
      this.#failed(lease);
    }
  }

  /** Tries again at a tenth of the ttl. */
  #failed(lease: HeldLease): void {
    lease.extendAt = this.#clock.now() + lease.ttl / 10;
    if (lease.extensions === 0) this.#schedule(lease);
  }
}
