import type { Clock } from '../clock.js';
import type { LockStore } from '../lock-store.js';
import { StoreTimeout, promised } from '../store-call.js';

/** Milliseconds without an answer after which nobody knows any more who has a key. */
export const LONGEST_SILENCE = 1_000;

/** A question that has no other meaning than to be answered. */
export class Pulse {
  readonly #clock: Clock;
  readonly #askedAt: number;
  #isAnswered = false;
  #error: unknown;

  constructor(clock: Clock, answer: Promise<unknown>) {
    this.#clock = clock;
    this.#askedAt = clock.now();
    answer.then(
      () => (this.#isAnswered = true),
      (error: unknown) => {
        this.#isAnswered = true;
        this.#error = error;
      },
    );
  }

  get age(): number {
    return this.#clock.now() - this.#askedAt;
  }

  /** Why nobody knows who has a key; `undefined` when the store has answered, or was asked just now. */
  get failure(): unknown {
    if (this.#isAnswered) return this.#error;
    return this.age < LONGEST_SILENCE / 2 ? undefined : new StoreTimeout(this.age);
  }
}

/**
 * Whether the store still answers, for those whose wait in its queue is about to end: what they heard last may be long ago. Many ask
 * by one question.
 */
export class StorePulse {
  readonly #store: LockStore;
  readonly #clock: Clock;
  #latest: Pulse | undefined;

  constructor(store: LockStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** To be called `LONGEST_SILENCE` before the end of the wait. `undefined` where the store cannot say, or says so itself. */
  feel(key: string): Pulse | undefined {
    const store = this.#store;
    if (store.waitFailure || !store.inspect) return undefined;
    if (this.#latest && this.#latest.age < LONGEST_SILENCE / 4) return this.#latest;
    this.#latest = new Pulse(
      this.#clock,
      promised(() => store.inspect!(key)),
    );
    return this.#latest;
  }
}
