import type { AcquireRequest, Lease } from '../../../core/contract/lock-store.js';
import { asFencingToken, isRefusal } from '../lua/replies.js';
import type { Refused } from '../lua/replies.js';
import type { LeaseContext } from './lease-context.js';
import { RedisLease } from './redis-lease.js';

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
