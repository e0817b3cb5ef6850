import type { Clock } from '../../../core/async/clock.js';

/** Rejects when there is no answer within `ms`. Answers that arrived while this process was busy, or stopped, are read first. */
export function within<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`etcd gave no answer within ${ms} ms`));
    const cancel = clock.schedule(ms, () => void setImmediate(() => setImmediate(late)), true);
    answer.then(resolve, reject).finally(cancel);
  });
}

/** Settles like `answer`, unless `signal` aborts first: then it rejects with the reason. */
export function unless<T>(signal: AbortSignal, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
