import { offAbort, onAbort } from './async/abort-listeners.js';
import { PassedTime } from './passed-time.js';

/** Takes back what was scheduled. Safe to call when it has already happened. */
export type Cancel = () => void;

/** The only source of time. Says nothing about the time of day. */
export interface Clock {
  /**
   * Milliseconds since some fixed moment. Never goes back. The most that can have passed: a machine that was suspended counts
   * its absence too.
   */
  now(): number;
  /**
   * As `now`, by a monotonic clock alone, which may stand still while the machine is suspended: the least that has passed.
   * For what must not happen too early. Missing: `now` is that clock.
   */
  monotonic?(): number;
  /** Calls `callback` once, `ms` milliseconds from now. A background timer does not keep the process alive. */
  schedule(ms: number, callback: () => void, background?: boolean): Cancel;
}

/**
 * Milliseconds after which a longer timer looks at the clock: Node's own timers stand still while the machine is suspended, so
 * this is how late one may be afterwards.
 */
const LONGEST_TIMEOUT = 1_000;

const passedTime = new PassedTime({
  wall: () => Date.now(),
  monotonic: () => performance.now(),
});

/** `performance.now()`, with what the time of day runs ahead of it, and Node's timers. */
export const systemClock: Clock = {
  now: () => passedTime.now(),
  monotonic: () => performance.now(),
  schedule(ms, callback, background = false) {
    const due = ms > LONGEST_TIMEOUT ? passedTime.now() + ms : 0;
    let timer: NodeJS.Timeout;
    const arm = (left: number) => {
      const run = left > LONGEST_TIMEOUT ? look : callback;
      timer = setTimeout(run, Math.min(Math.max(Math.ceil(left), 0), LONGEST_TIMEOUT));
      if (background) timer.unref();
    };
    const look = () => arm(due - passedTime.now());
    arm(ms);
    return () => clearTimeout(timer);
  },
};

/** The least that has passed by `clock`, in milliseconds since some fixed moment. For what must not happen too early. */
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

/** Resolves when `answer` has come or failed, which others see to, or after `ms`. Never rejects. */
export function settled(clock: Clock, answer: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.schedule(ms, resolve);
    const stop = () => {
      cancel();
      resolve();
    };
    answer.then(stop, stop);
  });
}
