import { offAbort, onAbort } from './abort-listeners.js';
import { PassedTime } from './passed-time.js';

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

/** Resolves after `ms`, or as soon as `signal` aborts. Never rejects. In the background it does not keep the process alive. */
export function sleep(
  clock: Clock,
  ms: number,
  signal?: AbortSignal,
  background = false,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      cancel();
      if (signal) offAbort(signal, listener);
      resolve();
    };
    const listener = { handleEvent: wake };
    const cancel = clock.schedule(ms, wake, background);
    if (signal) onAbort(signal, listener);
  });
}

/**
 * Resolves `true` when `answer` has settled, `false` after `ms`. Never rejects; the caller handles the failure of `answer`. In the
 * background it does not keep the process alive.
 */
export function waitAtMost(
  clock: Clock,
  ms: number,
  answer: Promise<unknown>,
  background = false,
): Promise<boolean> {
  return new Promise((resolve) => {
    // After a pause of the process, timers run before the replies that arrived meanwhile are read.
    const late = () => void setImmediate(() => resolve(false));
    const cancel = clock.schedule(ms, late, background);
    const stop = () => {
      cancel();
      resolve(true);
    };
    answer.then(stop, stop);
  });
}
