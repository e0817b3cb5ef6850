import { LockPermitsError } from '../../../core/contract/lock-errors.js';
import type { AcquireRequest, Lease } from '../../../core/contract/lock-store.js';
import { otherPermits } from '../keys/named-lock.js';
import { asFencingToken, isOne, isRefusal, unknownReply } from '../lua/replies.js';
import type { Refused } from '../lua/replies.js';
import { ACQUIRE_SHARED } from '../lua/sharing-scripts.js';
import type { LeaseContext } from './lease-context.js';
import { RedisLease } from './redis-lease.js';
import { SharedRedisLease, abandonShared } from './shared-redis-lease.js';

/** One attempt to hold some locks exclusively. Resolves `undefined` when other callers hold or await them; of several, `refused` gets one. */
export function tryHold(
  request: AcquireRequest,
  context: LeaseContext,
  refused: Refused,
): Promise<Lease | undefined> {
  const { ttl, fencingFloor } = request;
  const held = context.names.exclusive(request);
  const read = (reply: unknown) => {
    if (reply === null || (refused && isRefusal(request.keys, reply, refused))) return undefined;
    const { clocks } = context.watches;
    if (clocks && ttl > clocks.longest) clocks.holds(ttl);
    return new RedisLease(held, context, asFencingToken(reply));
  };
  return context.lockCalls.make({ held, ttl, last: fencingFloor, read });
}

/**
 * One attempt to share some locks. Resolves `undefined` when other callers hold or await them; of several, `refused` gets one.
 */
export function tryShare(
  request: AcquireRequest,
  permits: number,
  context: LeaseContext,
  refused: Refused,
): Promise<Lease | undefined> {
  const { names, runner, takeBacks } = context;
  const held = names.shared(request, permits);
  if (takeBacks.kept.size > 0) takeBacks.forget(held);
  const read = (reply: unknown) => {
    if (Array.isArray(reply)) throw otherPermits(request, permits, reply);
    if (isRefusal(request.keys, reply, refused)) return undefined;
    if (isOne(reply)) {
      context.watches.clocks?.holds(request.ttl);
      return new SharedRedisLease(held, context);
    }
    throw unknownReply('1, nil or a list', reply);
  };
  const failed = (error: unknown): never => {
    if (!(error instanceof LockPermitsError)) abandonShared(context, held);
    throw error;
  };
  return runner.change(ACQUIRE_SHARED, held.keys, [held.value, request.ttl], read, failed);
}
