/** Takes back what was scheduled. Safe to call when it has already happened. */
export type Cancel = () => void;

/** The only source of time. Monotonic: it never jumps, and says nothing about the time of day. */
export interface Clock {
  /** Milliseconds since some fixed moment. */
  now(): number;
  /** Calls `callback` once, `ms` milliseconds from now. A background timer does not keep the process alive. */
  schedule(ms: number, callback: () => void, background?: boolean): Cancel;
}

/** Node turns longer delays into 1 ms. */
const LONGEST_TIMEOUT = 2_147_483_647;

/** `performance.now()` and Node's timers. */
export const systemClock: Clock = {
  now: () => performance.now(),
  schedule(ms, callback, background = false) {
    const timer = setTimeout(callback, Math.min(Math.max(Math.ceil(ms), 0), LONGEST_TIMEOUT));
    if (background) timer.unref();
    return () => clearTimeout(timer);
  },
};

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
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.schedule(ms, wake, background);
    signal?.addEventListener('abort', wake, { once: true });
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
