import type { Clock } from '../async/clock.js';
import type { TimerQueue } from '../async/timer-queue.js';
import { BoundedCall } from './bounded-call.js';
import type { CallContext, StoreCall } from './bounded-call.js';

/** The answer of `ask` as a promise; a synchronous throw becomes a rejection, a synchronous answer a resolution. */
export function promiseTry<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return Promise.resolve(ask());
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Makes calls to a store. */
export class StoreCalls implements CallContext {
  readonly clock: Clock;
  readonly timers: TimerQueue;
  latest: readonly unknown[] = [];

  constructor(clock: Clock, timers: TimerQueue) {
    this.clock = clock;
    this.timers = timers;
  }

  make<Answer, Result>(call: StoreCall<Answer, Result>): Promise<Result> {
    return new CallOf(call).send(this);
  }
}

/** A call that is described by another object. */
class CallOf<Answer, Result> extends BoundedCall<Answer, Result> {
  readonly within: number;
  override readonly signal: AbortSignal | undefined;
  readonly #call: StoreCall<Answer, Result>;

  constructor(call: StoreCall<Answer, Result>) {
    super();
    this.#call = call;
    this.within = call.within;
    this.signal = call.signal;
  }

  ask(): Promise<Answer> {
    return this.#call.ask();
  }

  check(answer: unknown): void {
    this.#call.check(answer);
  }

  read(answer: Answer): Result | Promise<Result> {
    return this.#call.read(answer);
  }

  recover(error: unknown): Result {
    return this.#call.recover(error);
  }

  override late(answer: Answer): void {
    this.#call.late?.(answer);
  }
}
