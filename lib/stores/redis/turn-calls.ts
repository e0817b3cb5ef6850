import { inRootContext } from '../../core/async/root-context.js';

/** Enough to spare commands, and little enough to keep nobody else waiting at the server. */
export const LARGEST_CALL = 100;

/** Gathers what one turn of the event loop wants to send, and makes few calls of it. A call holds one group. */
export class TurnCalls<Item> {
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

function inCalls<Item>(items: readonly Item[], groupOf: (item: Item) => string | number): Item[][] {
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
