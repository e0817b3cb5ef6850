import type { QueuedTimer } from '../async/timer-queue.js';
import type { LeaseState } from './lease-state.js';

/** Tells that a lease is held for longer than its `overdueAfter`. Made for leases that have one. */
export class OverdueWatch implements QueuedTimer {
  due = Infinity;
  index = -1;
  /** By the clock of the service. */
  readonly at: number;
  readonly #lease: LeaseState;

  constructor(lease: LeaseState) {
    this.#lease = lease;
    this.at = lease.context.clock.now() + lease.options.overdueAfter;
  }

  /** Right also after the event loop was blocked. */
  get isOverdue(): boolean {
    return this.#lease.context.clock.now() >= this.at;
  }

  run(): void {
    if (this.#lease.isHeld) this.#lease.overdue(false);
  }
}
