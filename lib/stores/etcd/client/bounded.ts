import { waitAtMost } from '../../../core/async/sleep.js';
import type { Clock } from '../../../core/async/clock.js';

/** Rejects when there is no answer within `ms`. Answers that arrived while this process was busy, or stopped, are read first. */
export async function within<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T> {
  if (await waitAtMost(clock, ms, answer, true)) return answer;
  const late = new Error(`etcd gave no answer within ${ms} ms`);
  // gRPC hands a message on one turn of the event loop after its bytes were read.
  return Promise.race([answer, new Promise<never>((_, reject) => void setImmediate(reject, late))]);
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
