import { systemClock } from '../../../core/async/clock.js';
import type { Cancel } from '../../../core/async/clock.js';

/** Consecutive connections that failed, after which the calls that wait for one fail. As ioredis by default. */
const MOST_FAILURES = 20;
/** Milliseconds before the first attempt to connect again, more each time. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 2_000;

/** When a connection that was lost is made anew. */
export class Retries {
  readonly #connect: () => void;
  readonly #most: number;
  #failures = 0;
  #cancel: Cancel | undefined;

  constructor(connect: () => void, most = MOST_FAILURES) {
    this.#connect = connect;
    this.#most = most;
  }

  /** Connects again after a pause. `true`: no caller should wait for it any longer. */
  failed(): boolean {
    this.#failures++;
    const pause = Math.min(this.#failures * FIRST_PAUSE, LONGEST_PAUSE);
    this.#cancel = systemClock.schedule(pause, this.#connect);
    return this.#failures % this.#most === 0;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
