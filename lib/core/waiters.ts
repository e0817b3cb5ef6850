import { LockQueueFullError } from './contract/queue-full-error.js';
import { keyNames } from './lock-keys.js';

/** Counts who waits, for each key and in all, and refuses whoever is one too many. */
export class Waiters {
  readonly #most: number;
  readonly #byKey = new Map<string, number>();
  #all = 0;

  /** `most` is for all keys together. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Throws `LockQueueFullError`. `most` is for each key. */
  enter(keys: readonly string[], most: number): void {
    if (this.#all >= this.#most) {
      throw new LockQueueFullError(keyNames(keys), 'maxWaitingTotal', this.#most);
    }
    for (const key of keys) {
      if (this.#count(key) >= most) throw new LockQueueFullError(key, 'maxWaiting', most);
    }
    this.#all++;
    for (const key of keys) this.#byKey.set(key, this.#count(key) + 1);
  }

  /** For one that has entered. */
  leave(keys: readonly string[]): void {
    this.#all--;
    for (const key of keys) {
      const left = this.#count(key) - 1;
      if (left > 0) this.#byKey.set(key, left);
      else this.#byKey.delete(key);
    }
  }

  #count(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }
}
