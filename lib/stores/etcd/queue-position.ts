import type { KeyValue, RangeRequest } from './etcd-client.js';
import type { Queue } from './etcd-keys.js';
import { readValue } from './node-value.js';
import type { NodeContent } from './node-value.js';
import { placeInLine } from '../../core/place-in-line.js';
import type { Standing } from '../../core/place-in-line.js';

/** One node of a queue. */
export interface QueuedNode extends NodeContent {
  readonly key: Buffer;
  /** The session that it lives by. */
  readonly lease: string;
  readonly revision: bigint;
}

/** What a waiter watches, and the first revision that its reading did not see. */
export interface Awaited extends Pick<RangeRequest, 'key' | 'range_end'> {
  readonly from: string;
  /** `'changed'`: it is also written to. */
  readonly until: 'gone' | 'changed';
}

/** Where a node stands in its queue: it holds the key, waits, or is not there any more. */
export type Position =
  /** `tells`: somebody behind it may be waiting for it to be written to. */
  | { readonly state: 'holds'; readonly tells: boolean }
  | { readonly state: 'waits'; readonly awaits: Awaited }
  | { readonly state: 'gone' };

/** The nodes in the order of their creation, in whatever order they were read. */
export function lineOf(kvs: readonly KeyValue[]): QueuedNode[] {
  return kvs
    .map(({ key, value, lease, create_revision }) => ({
      ...readValue(value),
      key,
      lease,
      revision: BigInt(create_revision),
    }))
    .toSorted((one, other) => (one.revision < other.revision ? -1 : 1));
}

/** Where one stands between those before and behind it, as they were at the revision `seen`. */
export function positionOf(
  queue: Queue,
  before: readonly QueuedNode[],
  own: Standing,
  behind: readonly QueuedNode[],
  seen: bigint,
): Position {
  const line: readonly (QueuedNode | Standing)[] = [...before, own, ...behind];
  const place = placeInLine(line, before.length);
  if (place.state === 'holds') return { state: 'holds', tells: place.tells !== undefined };
  const from = String(seen + 1n);
  if (place.until === 'any is gone')
    return { state: 'waits', awaits: { ...queue.range, from, until: 'gone' } };
  const { key } = place.behind as QueuedNode; // nobody stands behind itself
  return { state: 'waits', awaits: { key, from, until: place.until } };
}
