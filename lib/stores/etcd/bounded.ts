import type { Clock } from '../../core/clock.js';

/** Rejects when there is no answer within `ms`. What came in while this process was busy, or stopped, is read first. */
export function within<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`etcd gave no answer within ${ms} ms`));
    const cancel = clock.schedule(ms, () => void setImmediate(() => setImmediate(late)), true);
    answer.then(resolve, reject).finally(cancel);
  });
}

/** As `sleep`, and does not keep the process alive. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = clock.schedule(ms, wake, true);
    signal?.addEventListener('abort', wake, { once: true });
  });
}

/** Settles as `answer` does, unless `signal` aborts first: then it rejects with the reason. */
export function unless<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** A signal that aborts with the first of two, until it is told to forget them. */
export function eitherOf(a: AbortSignal, b: AbortSignal): { signal: AbortSignal; forget(): void } {
  const either = new AbortController();
  const ends = [a, b].map((signal) => ({ signal, end: () => either.abort(signal.reason) }));
  for (const { signal, end } of ends) {
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
  }
  const forget = () => ends.forEach(({ signal, end }) => signal.removeEventListener('abort', end));
  return { signal: either.signal, forget };
}
