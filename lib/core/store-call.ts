import type { Clock } from './clock.js';
import type { TimerQueue } from './timer-queue.js';

/** The store did not answer in time. Only seen as the `cause` of a `LockStoreError`. */
export class StoreTimeout extends Error {
  constructor(ms: number) {
    super(`no answer within ${Math.round(ms)} ms`);
    this.name = 'StoreTimeout';
  }
}

/** One question to a store. Callbacks instead of promises: this stands in the way of every acquire and release. */
export interface StoreCall<Answer, Result> {
  readonly ask: () => Promise<Answer>;
  /** Milliseconds for the answer. */
  readonly within: number;
  /** Stops waiting for the answer. */
  readonly signal?: AbortSignal | undefined;
  readonly read: (answer: Answer) => Result | Promise<Result>;
  /** The result in place of an answer, or the error to throw, for one of the store's, a `StoreTimeout` or `signal.reason`. */
  readonly recover: (error: unknown) => Result;
  /** Gets an answer that came after the call had failed. */
  readonly late?: (answer: Answer) => void;
}

/** What `ask` answers; a store that throws at once has rejected, too. */
export function promised<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return ask();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** For messages. What is thrown need not be an `Error`. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Bounds what is asked of a store, so that one that hangs never hangs its caller. */
export class StoreCalls {
  readonly #clock: Clock;
  readonly #timers: TimerQueue;

  constructor(clock: Clock, timers: TimerQueue) {
    this.#clock = clock;
    this.#timers = timers;
  }

  make<Answer, Result>(call: StoreCall<Answer, Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const answer = promised(call.ask); // first, so that the store is busy with it meanwhile
      const { signal } = call;
      let isOpen = true;
      const settle = <T>(outcome: (value: T) => Result | Promise<Result>, value: T) => {
        isOpen = false;
        signal?.removeEventListener('abort', abort);
        try {
          resolve(outcome(value));
        } catch (error) {
          reject(error);
        } finally {
          this.#timers.remove(timer); // last, so that the queue's own timer need not stop where a lease has joined it
        }
      };
      const fail = (error: unknown) => {
        if (isOpen) settle(call.recover, error);
      };
      const abort = () => fail(signal!.reason);
      const timer = this.#timers.add(this.#clock.now() + call.within, () =>
        fail(new StoreTimeout(call.within)),
      );
      signal?.addEventListener('abort', abort, { once: true });
      answer.then((value) => {
        if (isOpen) settle(call.read, value);
        else call.late?.(value);
      }, fail);
      if (signal?.aborted) abort();
    });
  }
}
