import { LockPermitsError } from '../../../core/contract/lock-errors.js';
import type { AcquireRequest } from '../../../core/contract/lock-store.js';
import { isNodeOf } from '../keys/etcd-keys.js';
import type { Queue } from '../keys/etcd-keys.js';
import { holdersOf, otherPermits, placeInQueue } from '../../kit/place-in-queue.js';
import type { QueuedNode } from './queue-position.js';

/**
 * Decides about an attempt that found other nodes in the queues of its keys. `lines` has them in order, at least the first of
 * each.
 *
 * Returns the nodes, one for each key, if it holds all of them. `again`: it would hold each of them now. `undefined`: it would
 * not.
 */
export function afterRefusal(
  request: AcquireRequest,
  session: string,
  queues: readonly Queue[],
  lines: readonly (readonly QueuedNode[])[],
): readonly QueuedNode[] | LockPermitsError | 'again' | undefined {
  const { keys, permits, token } = request;
  const owned = lines.map((line, index) =>
    holdersOf(line).find((each) => isOwn(each, queues[index]!, token, session)),
  );
  if (owned.every((node) => node !== undefined)) return owned;
  const joined = lines.map((line) => ({ line: [...line, { permits }], index: line.length }));
  for (const [at, { line, index }] of joined.entries()) {
    const inUse = otherPermits(line, index);
    if (inUse !== undefined) return new LockPermitsError(keys[at]!, permits!, inUse);
  }
  const wouldHold = joined.every(({ line, index }) => placeInQueue(line, index).state === 'holds');
  return wouldHold ? 'again' : undefined;
}

/** A node of an earlier session may go at any moment. */
function isOwn({ key, lease }: QueuedNode, queue: Queue, token: string, session: string): boolean {
  return lease === session && isNodeOf(queue, token, key);
}
