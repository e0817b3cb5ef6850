/** An entry of a `LinkedQueue`: it carries its own links, so that leaving from the middle costs nothing. */
export interface Linked<T> {
  before: T | undefined;
  behind: T | undefined;
}

/**
 * First in, first out; an entry may leave early. Nothing refers to an entry that has left: the old table of a `Map` or `Set`
 * that grew holds its entries until a full garbage collection, which many short-lived entries make the costliest part of a lock.
 */
export class LinkedQueue<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;
  /** Read only. */
  size = 0;

  get first(): T | undefined {
    return this.#first;
  }

  /** All of them, in order. */
  list(): T[] {
    const all: T[] = [];
    for (let one = this.#first; one; one = one.behind) all.push(one);
    return all;
  }

  add(one: T): void {
    this.size++;
    one.before = this.#last;
    if (this.#last) this.#last.behind = one;
    else this.#first = one;
    this.#last = one;
  }

  /** For an entry of this queue. */
  remove(one: T): void {
    this.size--;
    if (one.before) one.before.behind = one.behind;
    else this.#first = one.behind;
    if (one.behind) one.behind.before = one.before;
    else this.#last = one.before;
    one.before = undefined;
    one.behind = undefined;
  }
}
