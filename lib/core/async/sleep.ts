import { offAbort, onAbort } from './abort-listeners.js';
import type { Clock } from './clock.js';

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
