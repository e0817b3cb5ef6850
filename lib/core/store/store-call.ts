import { offAbort, onAbort } from '../async/abort-listeners.js';
import type { Clock } from '../async/clock.js';
import type { QueuedTimer, TimerQueue } from '../async/timer-queue.js';

/** The store did not answer in time. Only seen as the `cause` of a `LockStoreError`. */
export class StoreTimeout extends Error {
  constructor(ms: number) {
    super(`no answer within ${Math.round(ms)} ms`);
    this.name = 'StoreTimeout';
  }
}

/** One call to a store. Callbacks instead of promises: this is on the path of every acquire and release. */
export interface StoreCall<Answer, Result> {
  ask(): Promise<Answer>;
  /** Milliseconds for the answer. */
  readonly within: number;
  /** Stops waiting for the answer. */
  readonly signal?: AbortSignal | undefined;
  /** Throws for an invalid answer. */
  check(answer: unknown): void;
  read(answer: Answer): Result | Promise<Result>;
  /**
   * The result in place of an answer, or the error to throw, for an error of the store or of `check`, a `StoreTimeout` or
   * `signal.reason`.
   */
  recover(error: unknown): Result;
  /** Gets an answer that came after the call had failed, unchecked. */
  late?(answer: Answer): void;
}

/** The answer of `ask` as a promise; a synchronous throw becomes a rejection, a synchronous answer a resolution. */
export function promised<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return Promise.resolve(ask());
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Bounds every call to a store, so that a store that hangs never hangs its caller. */
export class StoreCalls {
  readonly #clock: Clock;
  readonly #timers: TimerQueue;
  /**
   * The last two calls, mostly an acquire and a release: V8 discards compiled code when a garbage collection finds no object of
   * its shapes. Without this, a lock takes twice the client's time where collections come between locks (`bench/builds.mjs`).
   */
  #latest: readonly unknown[] = [];

  constructor(clock: Clock, timers: TimerQueue) {
    this.#clock = clock;
    this.#timers = timers;
  }

  make<Answer, Result>(call: StoreCall<Answer, Result>): Promise<Result> {
    const answer = promised(() => call.ask()); // first, so that the store is busy with it meanwhile
    const due = this.#clock.now() + call.within;
    return new Promise<Result>((resolve, reject) => {
      const open = new OpenCall(call, this.#timers, resolve, reject);
      this.#latest = [open, this.#latest[0]];
      open.follow(answer, due);
    });
  }
}

class OpenCall<Answer, Result> implements QueuedTimer {
  due = Infinity;
  index = -1;
  readonly #call: StoreCall<Answer, Result>;
  readonly #timers: TimerQueue;
  readonly #resolve: (result: Result | Promise<Result>) => void;
  readonly #reject: (error: unknown) => void;
  #isOpen = true;

  constructor(
    call: StoreCall<Answer, Result>,
    timers: TimerQueue,
    resolve: (result: Result | Promise<Result>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#call = call;
    this.#timers = timers;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  follow(answer: Promise<Answer>, due: number): void {
    const { signal } = this.#call;
    this.#timers.move(this, due);
    if (signal) onAbort(signal, this);
    answer.then(
      (value) => this.#answered(value),
      (error: unknown) => this.#fail(error),
    );
    if (signal?.aborted) this.handleEvent();
  }

  /** The time is up. After a pause of the process, timers run before the replies that arrived meanwhile are read. */
  run(): void {
    setImmediate(() => this.#fail(new StoreTimeout(this.#call.within)));
  }

  /** The signal aborts. */
  handleEvent(): void {
    this.#fail(this.#call.signal!.reason);
  }

  #answered(answer: Answer): void {
    if (!this.#isOpen) return this.#call.late?.(answer);
    try {
      this.#call.check(answer);
    } catch (error) {
      return this.#settle(false, error);
    }
    this.#settle(true, answer);
  }

  #fail(error: unknown): void {
    if (this.#isOpen) this.#settle(false, error);
  }

  #settle(isAnswer: boolean, value: unknown): void {
    this.#isOpen = false;
    const { signal } = this.#call;
    if (signal) offAbort(signal, this);
    try {
      this.#resolve(isAnswer ? this.#call.read(value as Answer) : this.#call.recover(value));
    } catch (error) {
      this.#reject(error);
    } finally {
      this.#timers.remove(this); // last, so that the queue's own timer need not stop where a lease has joined it
    }
  }
}
