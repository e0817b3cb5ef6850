import type { Clock } from '../async/clock.js';
import type { LockEvents } from '../events/lock-events.js';
import type { LockStore } from '../contract/lock-store.js';
import type { ServiceTracing } from '../events/service-tracing.js';
import type { StoreCalls } from '../store/store-call.js';
import type { KeeperEntry } from './keeper-entry.js';

/** Shared by all leases of one service. */
export interface LeaseContext {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
  readonly events: LockEvents;
  readonly tracing: ServiceTracing;
  readonly keeper: LeaseWatcher;
}

/** Called for every change of a lease's next deadline, and at that deadline. */
interface LeaseWatcher {
  keep(lease: KeeperEntry): void;
  extended(lease: KeeperEntry): void;
  ended(lease: KeeperEntry): void;
  wake(lease: KeeperEntry): void;
}
