/** Milliseconds between two looks. */
const EVERY = 20;

/** Sees when this process stood still: because its machine did, or was too busy. */
export class StallWatch implements Disposable {
  /** Milliseconds by which the latest of all looks was late. */
  longest = 0;
  #last = performance.now();
  readonly #timer = setInterval(() => this.#look(), EVERY).unref();

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    this.longest = Math.max(this.longest, now - this.#last - EVERY);
    this.#last = now;
  }
}
