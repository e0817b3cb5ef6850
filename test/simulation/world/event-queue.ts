interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void | Promise<void>;
}

/** The events to come, by virtual time; events of one moment in the order in which they were added. */
export class EventQueue {
  readonly #heap: Event[] = [];
  #added = 0;

  get next(): number {
    return this.#heap[0]?.at ?? Infinity;
  }

  add(at: number, run: () => void | Promise<void>): void {
    const heap = this.#heap;
    const event = { at, order: this.#added++, run };
    let index = heap.push(event) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      if (!isBefore(event, heap[above]!)) break;
      heap[index] = heap[above]!;
      index = above;
    }
    heap[index] = event;
  }

  take(): Event {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) this.#sink(last);
    return first;
  }

  #sink(event: Event): void {
    const heap = this.#heap;
    let index = 0;
    for (let below = 1; below < heap.length; below = 2 * index + 1) {
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++;
      if (!isBefore(heap[below]!, event)) break;
      heap[index] = heap[below]!;
      index = below;
    }
    heap[index] = event;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
