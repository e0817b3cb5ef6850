import { inRootContext } from '../async/root-context.js';
import type { Cancel, Clock } from '../async/clock.js';
import { LockQueueFullError } from './queue-full-error.js';
import { keyNames } from '../keys/lock-keys.js';

/** Milliseconds of the timer that keeps the process alive. */
const KEPT_ALIVE = 3_600_000;

/** Counts the waiters, for each key and in all, and refuses one too many. Keeps the process alive while it has a waiter. */
export class Waiters {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #byKey = new Map<string, number>();
  #all = 0;
  #endLife: Cancel | undefined;

  /** `most` is for all keys together. */
  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Throws `LockQueueFullError`. `most` is for each key. */
  enter(keys: readonly string[], most: number): void {
    if (this.#all >= this.#most) {
      throw new LockQueueFullError(keyNames(keys), 'maxWaitingTotal', this.#most);
    }
    for (const key of keys) {
      if (this.of(key) >= most) throw new LockQueueFullError(key, 'maxWaiting', most);
    }
    if (this.#all++ === 0) inRootContext(this.#keepAlive);
    for (const key of keys) this.#byKey.set(key, this.of(key) + 1);
  }

  /** For one that has entered. */
  leave(keys: readonly string[]): void {
    if (--this.#all === 0) this.#endLife?.();
    for (const key of keys) {
      const left = this.of(key) - 1;
      if (left > 0) this.#byKey.set(key, left);
      else this.#byKey.delete(key);
    }
  }

  /** The waiters' timers do not, and neither does a store in memory. */
  readonly #keepAlive = (): void => {
    this.#endLife = this.#clock.schedule(KEPT_ALIVE, this.#keepAlive);
  };

  /** How many wait for `key`. */
  of(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }
}
