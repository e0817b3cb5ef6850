/** Cancels what was scheduled. Safe to call when it has already run. */
export type Cancel = () => void;

/** The only source of time. Not a time of day. */
export interface Clock {
  /**
   * Milliseconds since some fixed moment. Never goes back. An upper bound of the time passed: it includes suspension of the
   * machine.
   */
  now(): number;
  /**
   * As `now`, by the monotonic clock only, which may stop while the machine is suspended: a lower bound of the time passed. For
   * what must not happen too early. Missing: `now` is that clock.
   */
  monotonic?(): number;
  /** Calls `callback` once, `ms` milliseconds from now. A background timer does not keep the process alive. */
  schedule(ms: number, callback: () => void, background?: boolean): Cancel;
}

/**
 * Milliseconds by which the wall clock may fall behind before it counts as set back: it is read to 1 ms, and slewed by less than
 * that.
 */
const SET_BACK = 10;

/**
 * An upper bound of the time passed: the monotonic clock, plus the wall clock's gain on it. The gain is a suspension, or a wall
 * clock that was set forward; the two look the same. A clock that is set back subtracts nothing.
 *
 * The gain is measured from the largest difference between the two, so that noise and a clock that is slewed to and fro add up
 * to nothing. A clock that is slewed forward is followed at its own rate, far below the 1 % that validity allows for.
 */
export class PassedTime {
  /** The largest lead of the wall clock over the monotonic one since it was last set back. */
  #difference = mostItCanBe();
  /** Milliseconds that the wall clock has gained. */
  #gained = 0;

  /** Milliseconds. Never goes back. */
  now(): number {
    const wall = Date.now();
    const monotonic = performance.now(); // afterwards: a pause between the two must not look like a gain
    const gain = wall - monotonic - this.#difference;
    if (gain > 0) {
      this.#difference += gain;
      this.#gained += gain;
    } else if (gain < -SET_BACK) {
      this.#difference = Math.min(this.#difference, mostItCanBe());
    }
    return monotonic + this.#gained;
  }
}

/** Rounded up: a pause between the two readings, and the rest of a millisecond, make it larger. */
function mostItCanBe(): number {
  const monotonic = performance.now();
  return Date.now() + 1 - monotonic;
}

/**
 * Milliseconds after which a longer timer checks the clock. Node's timers stop while the machine is suspended, so a timer may be
 * this late afterwards.
 */
const LONGEST_TIMEOUT = 1_000;

/** `performance.now()` plus the wall clock's gain on it, and Node's timers. */
class SystemClock extends PassedTime implements Clock {
  monotonic(): number {
    return performance.now();
  }

  schedule(ms: number, callback: () => void, background = false): Cancel {
    const due = ms > LONGEST_TIMEOUT ? this.now() + ms : 0;
    let timer: NodeJS.Timeout;
    const arm = (left: number) => {
      const run = left > LONGEST_TIMEOUT ? look : callback;
      timer = setTimeout(run, Math.min(Math.max(Math.ceil(left), 0), LONGEST_TIMEOUT));
      if (background) timer.unref();
    };
    const look = () => arm(due - this.now());
    arm(ms);
    return () => clearTimeout(timer);
  }
}

export const systemClock: Clock = new SystemClock();

/** A lower bound of the time passed by `clock`, in milliseconds since some fixed moment. For what must not happen too early. */
export function monotonicTime(clock: Clock): number {
  return clock.monotonic?.() ?? clock.now();
}

/** One reading of a clock. */
export interface Moment {
  readonly now: number;
  readonly monotonic: number;
}

export function momentOf(clock: Clock): Moment {
  return { now: clock.now(), monotonic: monotonicTime(clock) };
}

/** Milliseconds since 1970. Never goes back, and so may be ahead of a time of day that was set back. */
export function timeOfDay(): number {
  return performance.timeOrigin + systemClock.now();
}

/** Milliseconds since 1970, as the machine has it now. It may go back: never to be used for a duration. */
export function wallClock(): number {
  return Date.now();
}
