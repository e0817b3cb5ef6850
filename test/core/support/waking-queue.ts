import { placeInQueue } from '../../../lib/stores/kit/place-in-queue.js';
import type { PlaceInQueue, Standing } from '../../../lib/stores/kit/place-in-queue.js';

interface Node extends Standing {
  readonly id: number;
}

/** The waiters that may hold, defined otherwise than by the rules: an exclusive one, or the first that agree on their permits. */
export function holdersByDefinition<T extends Standing>(line: readonly T[]): T[] {
  return line.filter((own, index) => {
    const before = line.slice(0, index);
    if (own.permits === undefined) return before.length === 0;
    return before.every(({ permits }) => permits === own.permits) && before.length < own.permits;
  });
}

/**
 * A line whose nodes look where they stand only when they are woken, one after the other in any order, as at a server. Each
 * knows what it saw when it looked last.
 */
export class WakingLine {
  #nodes: Node[] = [];
  #count = 0;
  readonly #seen = new Map<number, PlaceInQueue<Node>>();
  readonly #awake = new Set<number>();
  /** The waiters that have yet to tell that they were let in. */
  readonly #telling = new Set<number>();
  readonly #told = new Set<number>();
  #looks: number[] = [];

  arrive(permits: number | undefined): void {
    const id = this.#count++;
    this.#nodes.push({ id, permits });
    this.#awake.add(id);
  }

  remove(id: number): void {
    const index = this.#nodes.findIndex((node) => node.id === id);
    this.#nodes.splice(index, 1);
    for (const set of [this.#seen, this.#awake, this.#telling, this.#told]) set.delete(id);
    for (const [position, node] of this.#nodes.entries()) {
      const place = this.#seen.get(node.id);
      if (place?.state !== 'waits') continue;
      const isMeant = 'behind' in place ? place.behind.id === id : position >= index;
      if (isMeant) this.#wake(node.id);
    }
  }

  /** Does one of the things that can be done now. */
  one(what: 'remove' | 'look' | 'tell', which: number): void {
    const ids = { remove: this.#nodes.map(({ id }) => id), look: [...this.#awake], tell: [...this.#telling] }[what]; // prettier-ignore
    if (ids.length === 0) return;
    const id = ids[which % ids.length]!;
    if (what === 'remove') this.remove(id);
    else if (what === 'look') this.#look(id);
    else this.#tell(id);
  }

  /** Until no waiter is awake, and none has anything to tell. */
  settle(): void {
    for (let steps = 0; this.#awake.size + this.#telling.size > 0; steps += 1) {
      if (steps > 1_000) throw new Error('it never comes to rest');
      this.one(steps % 3 ? 'look' : 'tell', steps);
    }
  }

  /** The waiters that know that they hold. */
  holders(): number[] {
    return this.#nodes.map(({ id }) => id).filter((id) => this.#seen.get(id)?.state === 'holds');
  }

  looks(): number[] {
    return [...new Set(this.#looks)];
  }

  forgetLooks(): void {
    this.#looks = [];
  }

  /** No two waiters hold that exclude each other, and not too many of one kind. */
  checkSafe(): void {
    const held = this.#nodes.filter(({ id }) => this.holders().includes(id));
    const { permits = 1 } = held[0] ?? {};
    const agree = held.every((node) => node.permits === held[0]!.permits);
    if (!agree || held.length > permits) throw new Error(`held by ${JSON.stringify(held)}`);
  }

  /** All waiters know their true state, once the line is settled. */
  check(): void {
    const known = this.holders().join();
    const meant = holdersByDefinition(this.#nodes)
      .map(({ id }) => id)
      .join();
    if (known !== meant) throw new Error(`${known || 'nobody'} instead of ${meant || 'nobody'}`);
  }

  #wake(id: number): void {
    this.#seen.delete(id);
    this.#awake.add(id);
  }

  #look(id: number): void {
    const index = this.#nodes.findIndex((node) => node.id === id);
    const place = placeInQueue(this.#nodes, index);
    this.#looks.push(id);
    this.#awake.delete(id);
    this.#seen.set(id, place);
    if (place.state === 'holds') {
      if (place.tells) this.#telling.add(id);
    } else if ('behind' in place && place.until === 'changed' && this.#told.has(place.behind.id)) {
      throw new Error(`${id} waits for ${place.behind.id} to tell what it has told`);
    }
  }

  #tell(id: number): void {
    this.#telling.delete(id);
    this.#told.add(id);
    for (const [other, place] of this.#seen)
      if (place.state === 'waits' && 'behind' in place && place.behind.id === id)
        if (place.until === 'changed') this.#wake(other);
  }
}
