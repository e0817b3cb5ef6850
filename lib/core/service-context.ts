import type { PendingAcquisitionsContext } from './acquire/acquisition-context.js';
import type { Clock } from './async/clock.js';
import { TimerQueue } from './async/timer-queue.js';
import type { LockStore } from './contract/lock-store.js';
import { LockEvents } from './events/lock-events.js';
import { ServiceTracing } from './events/service-tracing.js';
import { HolderLookup } from './inspection/holder-lookup.js';
import { LeaseKeeper } from './lease/lease-keeper.js';
import { LocalQueues } from './queue/local-queues.js';
import type { LocalTicket } from './queue/local-ticket.js';
import { Waiters } from './queue/waiters.js';
import { StoreCalls } from './store/store-call.js';
import { needsQueue } from './store/store-checks.js';
import { StorePulse } from './store/store-pulse.js';

/** The parts that all locks of one service share. */
export function serviceContext(
  store: LockStore,
  clock: Clock,
  maxWaitingTotal: number,
): PendingAcquisitionsContext {
  const timers = new TimerQueue(clock);
  const calls = new StoreCalls(clock, timers);
  const keeper = new LeaseKeeper(store, clock, timers, calls);
  const queue = new LocalQueues<LocalTicket>(!needsQueue(store));
  const waiters = new Waiters(clock, maxWaitingTotal);
  const pulse = new StorePulse(store, clock);
  const asked = { store, clock, calls, pulse };
  const holders = new HolderLookup(asked);
  const told = { events: new LockEvents(), tracing: new ServiceTracing() };
  return { ...asked, ...told, timers, queue, waiters, keeper, holders };
}
