import { inRootContext } from '../../../core/async/root-context.js';

/** Locks, or their keys. Enough to save commands, and few enough not to block the server for other clients. */
export const LARGEST_CALL = 100;

/** An item to send, for some keys of the server. */
interface Sent {
  readonly keys: readonly string[];
}

/** Several keys of the server belong to one lock. */
const MOST_KEYS_OF_A_CALL = 4 * LARGEST_CALL;

/** Batches the items of one turn of the event loop into few calls (`bench/uncontended.mjs`). A call holds one group. */
export class CallBatcher<Item extends Sent> {
  readonly #groupOf: (item: Item) => string | number;
  readonly #call: (items: readonly Item[]) => void;
  #items: Item[] = [];

  constructor(groupOf: (item: Item) => string | number, call: (items: readonly Item[]) => void) {
    this.#groupOf = groupOf;
    this.#call = call;
  }

  add(item: Item): void {
    if (this.#items.length === 0) inRootContext(() => process.nextTick(this.#send));
    this.#items.push(item);
  }

  readonly #send = (): void => {
    const items = this.#items;
    this.#items = [];
    for (const call of inCalls(items, this.#groupOf)) this.#call(call);
  };
}

function inCalls<Item extends Sent>(
  items: readonly Item[],
  groupOf: (item: Item) => string | number,
): Item[][] {
  const open = new Map<string | number, { call: Item[]; keys: number }>();
  const calls: Item[][] = [];
  for (const item of items) {
    const group = groupOf(item);
    let last = open.get(group);
    if (!last || last.call.length === LARGEST_CALL || last.keys >= MOST_KEYS_OF_A_CALL) {
      last = { call: [], keys: 0 };
      open.set(group, last);
      calls.push(last.call);
    }
    last.call.push(item);
    last.keys += item.keys.length;
  }
  return calls;
}
