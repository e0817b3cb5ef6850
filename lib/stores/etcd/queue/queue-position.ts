import type { KeyValue, RangeRequest } from '../client/etcd-client.js';
import type { Queue } from '../keys/etcd-keys.js';
import { readValue } from './node-value.js';
import type { NodeContent } from './node-value.js';
import { placeInQueue } from '../../kit/place-in-queue.js';
import type { Standing } from '../../kit/place-in-queue.js';

/** One node of a queue. */
export interface QueuedNode extends NodeContent {
  readonly key: Buffer;
  /** The session to which it is bound. */
  readonly lease: string;
  readonly revision: bigint;
}

/** The nodes that a waiter watches, and the first revision after its reading. */
export interface Awaited extends Pick<RangeRequest, 'key' | 'range_end'> {
  readonly from: string;
  /** `'changed'`: a write to it counts, too. */
  readonly until: 'gone' | 'changed';
}

/** The place of a node in its queue: it holds the key, waits, or is gone. */
export type Position =
  /** `tells`: the node behind it may be waiting for a write to this one. */
  | { readonly state: 'holds'; readonly tells: boolean }
  | { readonly state: 'waits'; readonly awaits: Awaited }
  | { readonly state: 'gone' };

/** The nodes in the order of their creation, whatever the order in which they were read. */
export function queueOf(kvs: readonly KeyValue[]): QueuedNode[] {
  return kvs
    .map(({ key, value, lease, create_revision }) => ({
      ...readValue(value),
      key,
      lease,
      revision: BigInt(create_revision),
    }))
    .toSorted((one, other) => (one.revision < other.revision ? -1 : 1));
}

/** The place of a node between those before and behind it, as they were at the revision `seen`. */
export function positionOf(
  queue: Queue,
  before: readonly QueuedNode[],
  own: Standing,
  behind: readonly QueuedNode[],
  seen: bigint,
): Position {
  const line: readonly (QueuedNode | Standing)[] = [...before, own, ...behind];
  const place = placeInQueue(line, before.length);
  if (place.state === 'holds') return { state: 'holds', tells: place.tells !== undefined };
  const from = String(seen + 1n);
  if (place.until === 'any is gone')
    return { state: 'waits', awaits: { ...queue.range, from, until: 'gone' } };
  const { key } = place.behind as QueuedNode; // no node is behind itself
  return { state: 'waits', awaits: { key, from, until: place.until } };
}
