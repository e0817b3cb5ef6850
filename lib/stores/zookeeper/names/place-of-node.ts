import { nodesOf } from './node-names.js';
import { otherPermits, placeInQueue } from '../../kit/place-in-queue.js';

/** The change that a waiter waits for. */
export type Awaited =
  /** `'changed'`: the node is written to, or gone. */
  | { readonly node: string; readonly until: 'gone' | 'changed' }
  /** The queue has changed. */
  | { readonly names: readonly string[] };

/** The place of a node in its queue: it holds the lock, waits, or is gone. */
export type Place =
  /** `tells`: the node behind it may be waiting for a write to this one. */
  | { readonly state: 'holds'; readonly tells: boolean }
  /** `inUse`: the sharers before it use these other permits. */
  | { readonly state: 'waits'; readonly awaits: Awaited; readonly inUse?: number | undefined }
  | { readonly state: 'gone' };

/** `names` are all nodes of the key, in any order. */
export function placeOf(name: string, names: readonly string[]): Place {
  const queue = nodesOf(names);
  const index = queue.findIndex((node) => node.name === name);
  if (index < 0) return { state: 'gone' };
  const place = placeInQueue(queue, index);
  if (place.state === 'holds') return { state: 'holds', tells: place.tells !== undefined };
  const awaits = 'behind' in place ? { node: place.behind.name, until: place.until } : { names };
  return { state: 'waits', awaits, inUse: otherPermits(queue, index) };
}

/** The nodes that a request left behind, by the beginning of their names. */
export function nodesFrom(prefix: string, names: readonly string[]): string[] {
  return names.filter(
    (name) => name.startsWith(prefix) && /^-?\d+$/.test(name.slice(prefix.length)),
  );
}
