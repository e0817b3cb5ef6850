import type { Clock } from './clock.js';
import type { TimerQueue } from './timer-queue.js';

/** The store did not answer in time. Only seen as the `cause` of a `LockStoreError`. */
export class StoreTimeout extends Error {
  constructor(ms: number) {
    super(`no answer within ${Math.round(ms)} ms`);
    this.name = 'StoreTimeout';
  }
}

/** Bounds what is asked of a store, so that one that hangs never hangs its caller. */
export class StoreCalls {
  readonly #clock: Clock;
  readonly #timers: TimerQueue;

  constructor(clock: Clock, timers: TimerQueue) {
    this.#clock = clock;
    this.#timers = timers;
  }

  /** Rejects with a `StoreTimeout` after `ms`, or with `signal.reason`. What the answer brings later is the caller's business. */
  within<T>(answer: Promise<T>, ms: number, signal?: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const end = () => {
        this.#timers.remove(timer);
        signal?.removeEventListener('abort', abort);
      };
      const abort = () => {
        end();
        reject(signal!.reason);
      };
      const timer = this.#timers.add(this.#clock.now() + ms, () => {
        end();
        reject(new StoreTimeout(ms));
      });
      answer.then(
        (value) => {
          end();
          resolve(value);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
