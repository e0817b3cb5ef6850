import type { TimerQueue } from '../async/timer-queue.js';
import type { LockEvents } from '../events/lock-events.js';
import type { ServiceTracing } from '../events/service-tracing.js';
import type { HolderLookup } from '../inspection/holder-lookup.js';
import type { LeaseContext } from '../lease/lease-context.js';
import type { LeaseKeeper } from '../lease/lease-keeper.js';
import type { Waiters } from '../queue/waiters.js';
import type { AttemptContext } from './store-attempts.js';

/** Shared by all acquisitions of one service. */
export interface AcquisitionContext extends AttemptContext {
  readonly events: LockEvents;
  readonly tracing: ServiceTracing;
  readonly holders: HolderLookup;
  readonly timers: TimerQueue;
  readonly waiters: Waiters;
  readonly keeper: Pick<LeaseKeeper, 'leases'>;
}

/** With what their locks share. */
export type PendingAcquisitionsContext = AcquisitionContext &
  LeaseContext & { readonly keeper: LeaseKeeper };
