import type { QueuedTimer } from '../async/timer-queue.js';
import type { Linked } from '../queue/linked-queue.js';
import type { LocalQueues } from '../queue/local-queues.js';
import type { LocalTicket } from '../queue/local-ticket.js';
import type { Clock } from '../async/clock.js';
import type { LockEvents } from '../events/lock-events.js';
import type { LockStore } from '../contract/lock-store.js';
import type { ServiceTracing } from '../events/service-tracing.js';
import type { StoreCalls } from '../store/store-call.js';

/** The keeper's entry for a lease: it is list node, timer, and member of a bundle. */
export interface KeeperEntry extends QueuedTimer, Linked<KeeperEntry> {
  isKept: boolean;
  extendAt: number;
  /** Number of extensions requested or in progress: a doubt requests one more. */
  extensions: number;
  /** Both belong to the bundle that the lease is extended with, if any. */
  bundle: object | undefined;
  place: number;
}

/** Shared by all leases of one service. */
export interface LeaseContext {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
  readonly events: LockEvents;
  readonly tracing: ServiceTracing;
  readonly keeper: LeaseWatcher;
  readonly queue: LocalQueues<LocalTicket>;
}

/** Called for every change of a lease's next deadline, and at that deadline. */
interface LeaseWatcher {
  keep(lease: KeeperEntry): void;
  extended(lease: KeeperEntry): void;
  ended(lease: KeeperEntry): void;
  wake(lease: KeeperEntry): void;
}
