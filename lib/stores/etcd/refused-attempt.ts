import { LockPermitsError } from '../../core/lock-errors.js';
import type { AcquireRequest } from '../../core/lock-store.js';
import { isNodeOf } from './etcd-keys.js';
import type { Queue } from './etcd-keys.js';
import { holdersOf, otherPermits, placeInLine } from '../../core/place-in-line.js';
import type { QueuedNode } from './queue-position.js';

/**
 * What an attempt does that found somebody in the queues of its keys: `lines` has them in order, at least the first of each.
 *
 * The nodes, one for each key: it holds all of them. `again`: it would hold each of them now. `undefined`: it would not.
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
  const wouldHold = joined.every(({ line, index }) => placeInLine(line, index).state === 'holds');
  return wouldHold ? 'again' : undefined;
}

/** A node of a session of before may go at any moment. */
function isOwn({ key, lease }: QueuedNode, queue: Queue, token: string, session: string): boolean {
  return lease === session && isNodeOf(queue, token, key);
}
