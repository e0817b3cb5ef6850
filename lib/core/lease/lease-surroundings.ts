import type { Clock } from '../clock.js';
import type { LockEvents } from '../lock-events.js';
import type { LockStore } from '../lock-store.js';
import type { StoreCalls } from '../store-call.js';
import type { KeeperEntry } from './keeper-entry.js';

/** What the leases of one service share. */
export interface LeaseSurroundings {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
  readonly events: LockEvents;
  readonly keeper: LeaseWatcher;
}

/** Told of every change that moves a lease's next deadline, and when that has come. */
interface LeaseWatcher {
  extended(lease: KeeperEntry): void;
  ended(lease: KeeperEntry): void;
  wake(lease: KeeperEntry): void;
}
