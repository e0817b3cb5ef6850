import type { Clock } from '../../core/clock.js';
import type { AcquireRequest } from '../../core/lock-store.js';

/** Milliseconds, at random up to this, before the next claim; times the number of claims that were lost, up to `MOST_PAUSES`. */
const PAUSE = 50;
const MOST_PAUSES = 4;
/** Failures in a row, and the milliseconds since the first of them, after which a caller who waits hears of them. */
const MOST_FAILURES = 3;
const LONGEST_FAILURE = 2_000;

interface Setback {
  /** Claims that came to nothing. */
  readonly count: number;
  /** How many of the last ones did because too few nodes answered, and since when. */
  readonly failures: number;
  readonly failingSince: number;
}

/** The claims of callers who wait that came to nothing: how long each of them pauses, and when it gives up. */
export class Setbacks {
  readonly #clock: Clock;
  readonly #byCaller = new WeakMap<AcquireRequest, Setback>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Others were first: the nodes answer. */
  lost(asked: AcquireRequest): void {
    const { count = 0 } = this.#byCaller.get(asked) ?? {};
    this.#byCaller.set(asked, { count: count + 1, failures: 0, failingSince: Infinity });
  }

  /** Too few nodes answered. `false`: for so long that the caller has to hear of it. */
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
