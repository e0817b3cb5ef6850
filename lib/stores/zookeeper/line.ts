import { parseNode } from './node-names.js';
import type { LineNode } from './node-names.js';

/** Where a node stands in its line: it holds the lock, waits for one other node to go, or is not there any more. */
export type Place =
  | { readonly state: 'holds' }
  | { readonly state: 'waits'; readonly watch: string }
  | { readonly state: 'gone' };

/**
 * Who holds, and whom to watch: the recipes for locks and for shared locks
 * (https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks). A writer holds when nobody is before it, and else
 * watches the one right before it. A reader holds when no writer is before it, and else watches the last one of these. So
 * nobody is woken who does not come next.
 *
 * `children` are all names under the key, in any order; names of other shapes do not count.
 */
export function placeOf(name: string, children: readonly string[]): Place {
  const own = parseNode(name);
  if (!own || !children.includes(name)) return { state: 'gone' };
  let last: LineNode | undefined;
  for (const node of nodesOf(children)) {
    const isInTheWay = own.mode === 'write' || node.mode === 'write';
    if (isInTheWay && isBefore(node, own) && (!last || isBefore(last, node))) last = node;
  }
  return last ? { state: 'waits', watch: last.name } : { state: 'holds' };
}

/** The first node in the line, which holds the lock. `undefined` when nobody is there. */
export function firstOf(children: readonly string[]): LineNode | undefined {
  return nodesOf(children).reduce<LineNode | undefined>(
    (first, node) => (first && isBefore(first, node) ? first : node),
    undefined,
  );
}

/** The nodes that a request left, by what their names begin with. */
export function nodesFrom(prefix: string, children: readonly string[]): string[] {
  return children.filter(
    (name) => name.startsWith(prefix) && /^-?\d+$/.test(name.slice(prefix.length)),
  );
}

/** By the number that the server gave. It wraps, so what counts is the way from one to the other. */
function isBefore(one: LineNode, other: LineNode): boolean {
  return ((one.sequence - other.sequence) | 0) < 0;
}

function nodesOf(children: readonly string[]): LineNode[] {
  return children.flatMap((name) => parseNode(name) ?? []);
}
