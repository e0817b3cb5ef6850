import type { Clock } from '../clock.js';
import type { LockEvents } from '../lock-events.js';
import type { LockStore } from '../lock-store.js';
import type { StoreCalls } from '../store-call.js';

/** What the leases of one service share. */
export interface LeaseSurroundings<Held> {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
  readonly events: LockEvents;
  /** Told of every change that moves a lease's next deadline. */
  readonly keeper: { extended(lease: Held): void; ended(lease: Held): void };
}
