/** Enough to spare commands, and little enough to keep nobody else waiting at the server. */
const LARGEST_CALL = 100;

/** Puts what is to be sent into calls, in order. A call holds one group: in a Cluster, what shares a slot. */
export function inCalls<Item>(
  items: readonly Item[],
  groupOf: (item: Item) => string | number,
): Item[][] {
  const open = new Map<string | number, Item[]>();
  const calls: Item[][] = [];
  for (const item of items) {
    const group = groupOf(item);
    let call = open.get(group);
    if (!call || call.length === LARGEST_CALL) {
      call = [];
      open.set(group, call);
      calls.push(call);
    }
    call.push(item);
  }
  return calls;
}
