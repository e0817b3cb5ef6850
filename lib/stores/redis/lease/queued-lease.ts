import type { AcquireRequest, Lease } from '../../../core/contract/lock-store.js';
import type { HandedOver } from '../queue/queue-place.js';
import type { LeaseContext } from './lease-context.js';
import { RedisLease } from './redis-lease.js';
import { SharedRedisLease } from './shared-redis-lease.js';

/** The lease of a waiter that the line has served: a claim, or a whole ttl where `handedOver` brings one. */
export function leaseInLine(
  request: AcquireRequest,
  handedOver: HandedOver | undefined,
  context: LeaseContext,
): Lease {
  const { names, holds } = context;
  if (request.permits !== undefined)
    return SharedRedisLease.claimed(names.inLine(request), context);
  const alone = names.alone(request);
  if (!handedOver) return RedisLease.claimed(alone, context);
  holds(handedOver.ttl);
  return RedisLease.handedOver(alone, context, handedOver);
}
