import { offAbort, onAbort } from '../async/abort-listeners.js';
import type { AbortListener } from '../async/abort-listeners.js';
import type { QueuedTimer, TimerQueue } from '../async/timer-queue.js';

/** Ends the wait for the front. */
export interface TicketLimits {
  readonly timers: TimerQueue;
  readonly waitDeadline: {
    readonly deadline: number;
    /** When `beforeDeadline` is called, if that is before the deadline. */
    readonly lookAt: number;
  };
  readonly options: { readonly signal?: AbortSignal | undefined };
  beforeDeadline(): void;
  /** The reason of the rejection at the deadline. */
  tooLate(): unknown;
}

/** One wait of a ticket for the front: the two ends of its promise, its timer and its signal. Made for a ticket that waits. */
export class TicketWait<Result> implements AbortListener {
  readonly #limits: TicketLimits;
  readonly #ticket: { stop(reason: unknown): boolean };
  readonly #resolve: (result: Result) => void;
  readonly #reject: (reason: unknown) => void;
  #timer: QueuedTimer | undefined;

  /** `ticket` is stopped at the deadline and when the signal aborts, and then calls `reject`. */
  constructor(
    limits: TicketLimits,
    ticket: { stop(reason: unknown): boolean },
    resolve: (result: Result) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#limits = limits;
    this.#ticket = ticket;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const { timers, waitDeadline, options } = this.#limits;
    const { deadline, lookAt } = waitDeadline;
    if (lookAt < deadline) this.#timer = timers.add(lookAt, () => this.#look());
    else this.#awaitDeadline();
    if (options.signal) onAbort(options.signal, this);
  }

  resolve(result: Result): void {
    this.#end();
    this.#resolve(result);
  }

  reject(reason: unknown): void {
    this.#end();
    this.#reject(reason);
  }

  /** The signal aborts. */
  handleEvent(): void {
    this.#ticket.stop(this.#limits.options.signal?.reason);
  }

  #look(): void {
    this.#limits.beforeDeadline();
    this.#awaitDeadline();
  }

  #awaitDeadline(): void {
    const { timers, waitDeadline } = this.#limits;
    this.#timer = timers.add(waitDeadline.deadline, () =>
      this.#ticket.stop(this.#limits.tooLate()),
    );
  }

  #end(): void {
    const { timers, options } = this.#limits;
    timers.remove(this.#timer!);
    if (options.signal) offAbort(options.signal, this);
  }
}
