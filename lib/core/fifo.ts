/** What stands in a `Fifo`: the links are its own, so that leaving from the middle costs nothing. */
export interface Linked<T> {
  before: T | undefined;
  behind: T | undefined;
}

/** First in, first out, and anybody may leave early. */
export class Fifo<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;

  get first(): T | undefined {
    return this.#first;
  }

  add(one: T): void {
    one.before = this.#last;
    if (this.#last) this.#last.behind = one;
    else this.#first = one;
    this.#last = one;
  }

  /** For one that stands in this line. */
  remove(one: T): void {
    if (one.before) one.before.behind = one.behind;
    else this.#first = one.behind;
    if (one.behind) one.behind.before = one.before;
    else this.#last = one.before;
    one.before = undefined;
    one.behind = undefined;
  }
}
