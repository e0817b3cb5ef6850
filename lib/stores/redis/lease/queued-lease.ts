import type { AcquireRequest, Lease } from '../../../core/contract/lock-store.js';
import type { HandedOff } from '../queue/queue-place.js';
import type { LeaseContext } from './lease-context.js';
import { RedisLease } from './redis-lease.js';
import { SharedRedisLease } from './shared-redis-lease.js';
import { isShared } from '../../../core/sharing/hold-mode.js';

/** The lease of a waiter that the line has served: a claim, or a whole ttl where `handedOff` brings one. */
export function queuedLease(
  request: AcquireRequest,
  handedOff: HandedOff | undefined,
  context: LeaseContext,
): Lease {
  const { names, watches } = context;
  if (isShared(request.permits)) return SharedRedisLease.claimed(names.queued(request), context);
  const exclusive = names.exclusive(request);
  if (!handedOff) return RedisLease.claimed(exclusive, context);
  watches.clocks?.holds(handedOff.ttl);
  return RedisLease.handedOff(exclusive, context, handedOff);
}
