import { offAbort, onAbort } from '../async/abort-listeners.js';
import type { AbortListener } from '../async/abort-listeners.js';
import type { Clock } from '../async/clock.js';
import type { QueuedTimer, TimerQueue } from '../async/timer-queue.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';

/** Milliseconds that a call to the store may take beyond the end of the wait, so that a last attempt can be made right at it. */
const LAST_ATTEMPT_GRACE = 100;

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

/** Shared by all calls of a service. */
export interface CallContext {
  readonly clock: Clock;
  readonly timers: TimerQueue;
  /**
   * The last two calls, mostly an acquire and a release: V8 discards compiled code when a garbage collection finds no object of
   * its shapes. Without this, a lock takes twice the client's time where collections come between locks (`bench/builds.mjs`).
   */
  latest: readonly unknown[];
}

/** A call to a store, and its deadline: a store that hangs never hangs its caller. */
export abstract class BoundedCall<Answer, Result>
  implements StoreCall<Answer, Result>, QueuedTimer, AbortListener
{
  due = Infinity;
  index = -1;
  abstract readonly within: number;
  readonly signal?: AbortSignal | undefined;
  /** Has its deadline, while it is open. */
  #open: TimerQueue | undefined;
  #resolve!: (result: Result | Promise<Result>) => void;
  #reject!: (error: unknown) => void;

  abstract ask(): Promise<Answer>;
  abstract check(answer: unknown): void;
  abstract read(answer: Answer): Result | Promise<Result>;
  abstract recover(error: unknown): Result;
  late?(answer: Answer): void;

  /** May be called again once it was answered. */
  send(context: CallContext): Promise<Result> {
    let answer: Promise<Answer>;
    try {
      answer = Promise.resolve(this.ask()); // first, so that the store is busy with it meanwhile
    } catch (error) {
      answer = Promise.reject(error);
    }
    context.latest = [this, context.latest[0]];
    return new Promise((resolve, reject) => {
      const { signal } = this;
      this.#resolve = resolve;
      this.#reject = reject;
      this.#open = context.timers;
      this.#open.move(this, context.clock.now() + this.within);
      if (signal) onAbort(signal, this);
      answer.then(
        (value) => this.#settle(true, value),
        (error: unknown) => this.#settle(false, error),
      );
      if (signal?.aborted) this.handleEvent();
    });
  }

  /** The time is up. After a pause of the process, timers run before the replies that arrived meanwhile are read. */
  run(): void {
    setImmediate(() => this.#settle(false, new StoreTimeout(this.within)));
  }

  /** The signal aborts. */
  handleEvent(): void {
    this.#settle(false, this.signal!.reason);
  }

  /** Ends the call with the store's answer, or with a failure. */
  #settle(isAnswer: boolean, value: unknown): void {
    const timers = this.#open;
    if (!timers) return isAnswer ? this.late?.(value as Answer) : undefined;
    this.#open = undefined;
    if (this.signal) offAbort(this.signal, this);
    let failure = isAnswer ? NONE : value;
    try {
      if (isAnswer) this.check(value);
    } catch (error) {
      failure = error;
    }
    try {
      this.#resolve(failure === NONE ? this.read(value as Answer) : this.recover(failure));
    } catch (error) {
      this.#reject(error);
    } finally {
      timers.remove(this); // last, so that the queue's own timer need not stop where a lease has joined it
    }
  }
}

const NONE = Symbol('no failure');

/** Milliseconds that a call to the store may take when `left` are left of the wait. */
export function callLimit(
  { storeTimeout, waitTimeout }: Pick<ResolvedLockOptions, 'storeTimeout' | 'waitTimeout'>,
  left: number,
): number {
  if (waitTimeout === 0) return storeTimeout;
  return Math.min(storeTimeout, Math.max(left, LAST_ATTEMPT_GRACE));
}
