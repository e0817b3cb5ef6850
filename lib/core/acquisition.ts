import { Attempts } from './attempts.js';
import type { AttemptSurroundings } from './attempts.js';
import { sleep } from './clock.js';
import type { Grant } from './grant.js';
import type { LocalQueue } from './local-queue.js';
import { LockStoreError } from './lock-errors.js';
import type { ResolvedLockOptions } from './lock-options.js';
import type { AcquireRequest } from './lock-store.js';
import { canQueueAll } from './many-keys.js';
import { Patience } from './patience.js';
import { reasonOf } from './store-call.js';
import type { TimerQueue } from './timer-queue.js';
import { Turn } from './turn.js';

export interface AcquisitionSurroundings extends AttemptSurroundings {
  readonly timers: TimerQueue;
  readonly queue: LocalQueue<Turn>;
}

/** Makes of a grant what the caller wants. Called in the turn in which it arrived, without a promise in between. */
type Keep<Result> = (grant: Grant) => Result | Promise<Result>;

/** One caller's way to a grant: its turn among the callers of this process, then attempts and the wait between them. */
export class Acquisition {
  readonly turn: Turn;
  readonly options: ResolvedLockOptions;
  readonly #around: AcquisitionSurroundings;
  readonly #patience: Patience;
  readonly #attempts: Attempts;
  readonly #onFailure: (self: Acquisition) => void;
  #isWaiting = false;

  constructor(
    around: AcquisitionSurroundings,
    request: AcquireRequest,
    options: ResolvedLockOptions,
    onFailure: (self: Acquisition) => void,
  ) {
    this.#around = around;
    this.#onFailure = onFailure;
    this.options = options;
    this.turn = new Turn(around.queue, request);
    this.#patience = new Patience(around.clock, options);
    this.#attempts = new Attempts(around, request, options, this.#patience, (error) => {
      if (!this.#isWaiting) this.#fail(error);
    });
  }

  get keys(): readonly string[] {
    return this.turn.request.keys;
  }

  /** Ends the wait: `untilGranted` rejects with `reason`. */
  stop(reason: unknown): void {
    if (!this.turn.stop(reason)) this.#patience.stop(reason);
  }

  /** One attempt. Resolves `undefined` when someone else holds a key, in this process or elsewhere. */
  once<Result>(keep: Keep<Result>): Promise<Result | undefined> {
    if (!this.turn.take()) return Promise.resolve(this.#refused());
    return this.#attempts.make((grant) => (grant ? keep(grant) : this.#refused()));
  }

  /** Rejects with `LockTimeoutError`, `LockStoreError` or the reason of the signal. */
  untilGranted<Result>(keep: Keep<Result>): Promise<Result> {
    if (!this.turn.take()) return this.#wait().then(keep);
    return this.#attempts.make((grant) => (grant ? keep(grant) : this.#wait().then(keep)));
  }

  #refused(): undefined {
    const { tooLate } = this.#attempts;
    this.#fail(tooLate);
    if (tooLate) throw tooLate;
  }

  #fail(error: unknown): void {
    this.turn.leave(error instanceof LockStoreError ? error : undefined);
    this.#onFailure(this);
  }

  async #wait(): Promise<Grant> {
    this.#isWaiting = true;
    try {
      const grant = await this.#later();
      if (grant) return grant;
      throw this.#attempts.tooLate ?? this.#attempts.timeout();
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  async #later(): Promise<Grant | undefined> {
    const { waitTimeout, retryCount } = this.options;
    if (waitTimeout === 0 || retryCount === 0) return undefined;
    return (this.turn.isFront ? undefined : await this.#inLine()) ?? this.#contend();
  }

  /** Resolves when it is this caller's turn, with a grant if the holder before passed its lease on. */
  async #inLine(): Promise<Grant | undefined> {
    const passed = await this.turn.wait({
      timers: this.#around.timers,
      deadline: this.#patience.deadline,
      late: () => this.#lateInLine(),
      signal: this.options.signal,
    });
    return passed && this.#attempts.take(passed);
  }

  /** Not "held", when nobody knows because the store fails. */
  #lateInLine(): unknown {
    const { failure } = this.turn;
    if (failure === undefined) return this.#attempts.timeout();
    return this.#attempts.failure(reasonOf(failure), failure);
  }

  #contend(): Promise<Grant | undefined> {
    if (!canQueueAll(this.#around.store, this.turn.request))
      return this.#patience.during((signal) => this.#poll(signal));
    return this.#patience.untilDeadline(
      (signal) => this.#queue(signal),
      () => this.#attempts.timeout(),
    );
  }

  async #poll(signal: AbortSignal): Promise<Grant | undefined> {
    while (this.#attempts.count <= this.options.retryCount && this.#patience.left > 0) {
      if (this.#attempts.count > 0) await sleep(this.#around.clock, this.#patience.pause, signal);
      signal.throwIfAborted();
      const grant = await this.#attempts.make(asItIs);
      if (grant) return grant;
      this.turn.answered();
    }
    return undefined;
  }

  async #queue(signal: AbortSignal): Promise<Grant | undefined> {
    while (this.#patience.left > 0) {
      signal.throwIfAborted();
      const grant = await this.#attempts.queue(signal);
      if (grant) return grant;
      this.turn.answered();
    }
    return undefined;
  }
}

function asItIs<T>(value: T): T {
  return value;
}
