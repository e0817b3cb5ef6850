import { nodesOf } from './node-names.js';
import { otherPermits, placeInLine } from '../../core/place-in-line.js';

/** What one who waits is waiting for. */
export type Awaited =
  /** `'changed'`: that the node is written to, or gone. */
  | { readonly node: string; readonly until: 'gone' | 'changed' }
  /** That the line is not this one any more. */
  | { readonly names: readonly string[] };

/** Where a node stands in its line: it holds the lock, waits, or is not there any more. */
export type Place =
  /** `tells`: somebody behind it may be waiting for it to be written to. */
  | { readonly state: 'holds'; readonly tells: boolean }
  /** `inUse`: those who share the key before it do so with these other permits. */
  | { readonly state: 'waits'; readonly awaits: Awaited; readonly inUse?: number | undefined }
  | { readonly state: 'gone' };

/** `names` are all that are under the key, in any order. */
export function placeOf(name: string, names: readonly string[]): Place {
  const line = nodesOf(names);
  const index = line.findIndex((node) => node.name === name);
  if (index < 0) return { state: 'gone' };
  const place = placeInLine(line, index);
  if (place.state === 'holds') return { state: 'holds', tells: place.tells !== undefined };
  const awaits = 'behind' in place ? { node: place.behind.name, until: place.until } : { names };
  return { state: 'waits', awaits, inUse: otherPermits(line, index) };
}

/** The nodes that a request left, by what their names begin with. */
export function nodesFrom(prefix: string, names: readonly string[]): string[] {
  return names.filter(
    (name) => name.startsWith(prefix) && /^-?\d+$/.test(name.slice(prefix.length)),
  );
}
