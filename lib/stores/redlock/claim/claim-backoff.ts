import type { Clock } from '../../../core/async/clock.js';
import type { AcquireRequest } from '../../../core/contract/lock-store.js';

/**
 * Milliseconds before the next claim: a random number up to this, times the number of lost claims, which counts up to
 * `MOST_PAUSES`.
 */
const PAUSE = 50;
const MOST_PAUSES = 4;
/** A waiter is rejected after this many consecutive failures over at least this many milliseconds. */
const MOST_FAILURES = 3;
const LONGEST_FAILURE = 2_000;

interface Failures {
  /** Failed claims. */
  readonly count: number;
  /** How many of the last ones failed because too few nodes answered, and since when. */
  readonly failures: number;
  readonly failingSince: number;
}

/** The failed claims of a waiter: how long it pauses after each, and when it gives up. */
export class ClaimBackoff {
  readonly #clock: Clock;
  readonly #byCaller = new WeakMap<AcquireRequest, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Other callers were first: the nodes answer. */
  lost(asked: AcquireRequest): void {
    const { count = 0 } = this.#byCaller.get(asked) ?? {};
    this.#byCaller.set(asked, { count: count + 1, failures: 0, failingSince: Infinity });
  }

  /** Too few nodes answered. `false`: for so long that the caller is to be rejected. */
  failed(asked: AcquireRequest): boolean {
    const now = this.#clock.now();
    const { count = 0, failures = 0, failingSince = Infinity } = this.#byCaller.get(asked) ?? {};
    const since = Math.min(failingSince, now);
    this.#byCaller.set(asked, { count: count + 1, failures: failures + 1, failingSince: since });
    return failures + 1 < MOST_FAILURES || now - since < LONGEST_FAILURE;
  }

  /** Milliseconds until the caller may claim again. */
  pauseOf(asked: AcquireRequest): number {
    const { count = 0 } = this.#byCaller.get(asked) ?? {};
    return Math.random() * PAUSE * Math.min(count, MOST_PAUSES);
  }
}
