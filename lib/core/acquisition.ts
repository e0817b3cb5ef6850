import { Contention } from './acquire/contention.js';
import { Attempts } from './attempts.js';
import type { AttemptSurroundings } from './attempts.js';
import type { Linked } from './fifo.js';
import type { Grant, Passed } from './grant.js';
import type { LocalQueue } from './local-queue.js';
import { LockStoreError } from './lock-errors.js';
import type { ResolvedLockOptions } from './lock-options.js';
import { Patience } from './patience.js';
import { reasonOf } from './contract/safe-error.js';
import type { TimerQueue } from './timer-queue.js';
import { Turn } from './turn.js';
import type { TurnLimits } from './turn.js';
import type { Waiters } from './waiters.js';

export interface AcquisitionSurroundings extends AttemptSurroundings {
  readonly timers: TimerQueue;
  readonly queue: LocalQueue<Turn>;
  readonly waiters: Waiters;
}

/** Makes of a grant what the caller wants. Called in the turn in which it arrived, without a promise in between. */
type Keep<Result> = (grant: Grant) => Result | Promise<Result>;

/** One caller's way to a grant: its turn among the callers of this process, then attempts and the wait between them. */
export class Acquisition implements TurnLimits, Linked<Acquisition> {
  before: Acquisition | undefined;
  behind: Acquisition | undefined;
  readonly turn: Turn;
  readonly options: ResolvedLockOptions;
  readonly #around: AcquisitionSurroundings;
  readonly #patience: Patience;
  readonly #onFailure: (self: Acquisition) => void;
  #madeAttempts: Attempts | undefined;
  #isWaiting = false;
  #isCounted = false;

  constructor(
    around: AcquisitionSurroundings,
    keys: readonly string[],
    options: ResolvedLockOptions,
    onFailure: (self: Acquisition) => void,
  ) {
    this.#around = around;
    this.#onFailure = onFailure;
    this.options = options;
    this.turn = new Turn(around.queue, keys, Math.min(options.ttl, options.maxHold), options);
    this.#patience = new Patience(around.clock, options);
  }

  get timers(): TimerQueue {
    return this.#around.timers;
  }

  get deadline(): number {
    return this.#patience.deadline;
  }

  get signal(): AbortSignal | undefined {
    return this.options.signal;
  }

  /** Ends the wait: `untilGranted` rejects with `reason`. */
  stop(reason: unknown): void {
    if (!this.turn.stop(reason)) this.#patience.stop(reason);
  }

  /** One attempt. Resolves `undefined` when someone else holds a key, in this process or elsewhere. */
  once<Result>(keep: Keep<Result>): Promise<Result | undefined> {
    if (!this.turn.take(true)) return this.#refusedInLine();
    return this.#attempts.make((grant) => (grant ? keep(grant) : this.#refused()));
  }

  /** Rejects with `LockTimeoutError`, `LockStoreError` or the reason of the signal. */
  untilGranted<Result>(keep: Keep<Result>): Promise<Result> {
    if (this.turn.take(!this.#maySecondTry)) {
      return this.#attempts.make((grant) => (grant ? keep(grant) : this.#wait().then(keep)));
    }
    return this.#waitInLine().then(
      (passed) => this.#wait(passed).then(keep),
      (reason) => this.#rethrow(reason),
    );
  }

  /** To be called once, when it has been granted or has failed. */
  ended(): void {
    if (this.#isCounted) this.#around.waiters.leave(this.turn.keys);
  }

  /** Not "held", when nobody knows because the store fails. */
  tooLate(): unknown {
    const { failure } = this.turn;
    if (failure === undefined) return this.#attempts.timeout();
    return this.#attempts.failure(reasonOf(failure), failure);
  }

  async #refusedInLine(): Promise<undefined> {
    const { permitsError } = this.turn;
    if (permitsError) return this.#rethrow(permitsError);
    return this.#refused();
  }

  async #waitInLine(): Promise<Passed | undefined> {
    const { permitsError } = this.turn;
    if (permitsError) throw permitsError;
    if (!this.#maySecondTry) return undefined;
    this.#beginWait();
    return this.turn.wait(this);
  }

  /** Throws `LockQueueFullError` when too many wait already. */
  #beginWait(): void {
    if (this.#isCounted) return;
    this.#around.waiters.enter(this.turn.keys, this.options.maxWaiting);
    this.#isCounted = true;
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

  #rethrow(error: unknown): never {
    this.#fail(error);
    throw error;
  }

  /** Made when first needed: a caller in line may never ask the store. */
  get #attempts(): Attempts {
    this.#madeAttempts ??= new Attempts(this.#around, this.turn, this.#patience, (error) => {
      if (!this.#isWaiting) this.#fail(error);
    });
    return this.#madeAttempts;
  }

  get #maySecondTry(): boolean {
    return this.options.waitTimeout > 0 && this.options.retryCount > 0;
  }

  /** At the front of the line, perhaps with what the holder before passed on. */
  async #wait(passed?: Passed): Promise<Grant> {
    this.#isWaiting = true;
    try {
      const grant = (passed && (await this.#attempts.take(passed))) ?? (await this.#contend());
      if (grant) return grant;
      throw this.#attempts.tooLate ?? this.#attempts.timeout();
    } catch (error) {
      return this.#rethrow(error);
    }
  }

  async #contend(): Promise<Grant | undefined> {
    if (!this.#maySecondTry) return undefined;
    this.#beginWait();
    const { store, clock } = this.#around;
    const [turn, attempts, patience] = [this.turn, this.#attempts, this.#patience];
    return new Contention({ store, clock, turn, attempts, patience, limits: this }).untilGranted();
  }
}
