/** Runs what is asked for one after the other, as the replies of two could arrive in either order. */
export class OneAtATime {
  /** Settles with the last that is asked for or under way. Never rejects. */
  #last: Promise<void> | undefined;

  get isBusy(): boolean {
    return this.#last !== undefined;
  }

  /** A change of several at once is under way until `end`. For use while nothing else is. */
  begin(change: Promise<void>): void {
    this.#last = change;
  }

  end(change: Promise<void>): void {
    if (this.#last === change) this.#last = undefined;
  }

  /** Settles as `change` does. */
  run(change: () => Promise<void>): Promise<void> {
    const changed = this.#last ? this.#last.then(change) : change();
    const over = () => {
      if (this.#last === settled) this.#last = undefined;
    };
    const settled = changed.then(over, over);
    this.#last = settled;
    return changed;
  }
}
