import type { Clock } from '../async/clock.js';
import type { LockStore } from '../contract/lock-store.js';
import { StoreTimeout } from './bounded-call.js';
import { promiseTry } from './store-call.js';

/** Milliseconds without an answer after which the holder of a key counts as unknown. */
export const LONGEST_SILENCE = 1_000;

/** A request that only tests whether the store answers. */
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

  /** Why the holder of a key is unknown; `undefined` when the store has answered, or was asked just now. */
  get failure(): unknown {
    if (this.#isAnswered) return this.#error;
    return this.age < LONGEST_SILENCE / 2 ? undefined : new StoreTimeout(this.age);
  }
}

/**
 * Whether the store still answers, for waiters near the end of their wait: its last answer may be long ago. Many waiters share
 * one request.
 */
export class StorePulse {
  readonly #store: LockStore;
  readonly #clock: Clock;
  #latest: Pulse | undefined;

  constructor(store: LockStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** To be called `LONGEST_SILENCE` before the end of the wait. `undefined` where the store cannot say. */
  feel(key: string): Pulse | undefined {
    const store = this.#store;
    if (!store.inspect) return undefined;
    if (this.#latest && this.#latest.age < LONGEST_SILENCE / 4) return this.#latest;
    this.#latest = new Pulse(
      this.#clock,
      promiseTry(() => store.inspect!(key)),
    );
    return this.#latest;
  }
}
