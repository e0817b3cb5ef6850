import { offAbort, onAbort } from '../async/abort-listeners.js';
import { inRootContext } from '../async/root-context.js';
import type { Clock } from '../async/clock.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import { callLimit } from '../store/bounded-call.js';
import { LONGEST_SILENCE } from '../store/store-pulse.js';
import type { TimerQueue } from '../async/timer-queue.js';

/** The calls at the deadline of a wait, and shortly before. */
interface WaitEnd {
  /** Called `LONGEST_SILENCE` before the deadline, if the wait is that long. */
  beforeDeadline(): void;
  /** The reason that the wait ends with. */
  atDeadline(): unknown;
}

/** One caller's wait: its deadline, its early end, and the pause between two attempts. */
export class WaitDeadline {
  readonly #clock: Clock;
  readonly options: ResolvedLockOptions;
  /** When the call began. */
  readonly since: number;
  readonly #deadline: number;
  #stopper: AbortController | undefined;

  constructor(clock: Clock, options: ResolvedLockOptions, since: number) {
    this.#clock = clock;
    this.options = options;
    this.since = since;
    this.#deadline = since + options.waitTimeout;
  }

  get deadline(): number {
    return this.#deadline;
  }

  /** When to look whether the store still answers: `deadline` for a wait that is too short for it. */
  get lookAt(): number {
    const { waitTimeout } = this.options;
    return this.#deadline - (waitTimeout > LONGEST_SILENCE ? LONGEST_SILENCE : 0);
  }

  /** Milliseconds until the end of the wait. */
  get left(): number {
    return this.#deadline - this.#clock.now();
  }

  /** Milliseconds that one call to the store may take. */
  get callLimit(): number {
    return callLimit(this.options, this.left);
  }

  /** The pause before the next attempt. */
  get pause(): number {
    const { retryDelay, retryJitter } = this.options;
    const delay = Math.max(0, retryDelay + (Math.random() * 2 - 1) * retryJitter);
    return Math.min(delay, this.left);
  }

  /** Ends a call to the store early. */
  get signal(): AbortSignal | undefined {
    return this.#stopper?.signal ?? this.options.signal;
  }

  /** Ends the wait: `signal` aborts with `reason`. */
  stop(reason: unknown): void {
    const stopper = this.#stop;
    inRootContext(() => stopper.abort(reason));
  }

  /** Runs `wait`. Its signal aborts with the caller's own signal, with `stop`, or at the deadline. */
  async during<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.options;
    const stop = { handleEvent: () => this.stop(signal!.reason) };
    if (signal) onAbort(signal, stop);
    if (signal?.aborted) stop.handleEvent();
    try {
      return await wait(this.#stop.signal);
    } finally {
      if (signal) offAbort(signal, stop);
    }
  }

  /** As `during`, and stops at the deadline. */
  async untilDeadline<T>(
    wait: (signal: AbortSignal) => Promise<T>,
    end: WaitEnd,
    timers: TimerQueue,
  ): Promise<T> {
    if (this.deadline === Infinity) return this.during(wait);
    const due = [timers.add(this.deadline, () => this.stop(end.atDeadline()))];
    if (this.lookAt < this.deadline && this.lookAt > this.#clock.now())
      due.push(timers.add(this.lookAt, () => end.beforeDeadline()));
    try {
      return await this.during(wait);
    } finally {
      for (const timer of due) timers.remove(timer);
    }
  }

  /** Created on first use: an acquisition that succeeds at once never waits. */
  get #stop(): AbortController {
    this.#stopper ??= new AbortController();
    return this.#stopper;
  }
}
