import type { AcquisitionContext } from './acquisition-context.js';
import { Contention } from './contention.js';
import { hasHolderHere, withHolder } from './attempt-errors.js';
import type { Explain } from './attempt-errors.js';
import { StoreAttempts } from './store-attempts.js';
import type { Linked } from '../queue/linked-queue.js';
import type { Grant, HandedOff } from '../store/grant.js';
import { LockStoreError, LockTimeoutError } from '../contract/lock-errors.js';
import type { AcquireEffort } from '../events/attempt-events.js';
import { attemptEvent } from './outcome-events.js';
import type { AcquireCall } from './outcome-events.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import { WaitDeadline } from './wait-deadline.js';
import { reasonOf } from '../contract/safe-error.js';
import type { TimerQueue } from '../async/timer-queue.js';
import { LocalTicket } from '../queue/local-ticket.js';
import type { TicketLimits } from '../queue/ticket-wait.js';

/**
 * Turns a grant into the caller's result. Called in the event-loop turn in which the grant arrived, without a promise in
 * between.
 */
type Keep<Result> = (grant: Grant) => Result | Promise<Result>;

/** One caller's way to a grant: its ticket in the local queue, then attempts and the pauses between them. */
export class Acquisition implements TicketLimits, AcquireCall, Linked<Acquisition> {
  before: Acquisition | undefined;
  behind: Acquisition | undefined;
  readonly ticket: LocalTicket;
  readonly options: ResolvedLockOptions;
  readonly #context: AcquisitionContext;
  readonly patience: WaitDeadline;
  readonly #onFailure: (self: Acquisition, error: unknown) => void;
  readonly #explain: Explain | undefined;
  isStopped = false;
  #madeAttempts: StoreAttempts | undefined;
  #isWaiting = false;
  #isCounted = false;

  constructor(
    context: AcquisitionContext,
    keys: readonly string[],
    options: ResolvedLockOptions,
    onFailure: (self: Acquisition, error: unknown) => void,
    explain?: Explain,
  ) {
    this.#context = context;
    this.#onFailure = onFailure;
    this.#explain = explain;
    this.options = options;
    const ttl = Math.min(options.ttl, options.maxHold);
    this.ticket = new LocalTicket(context.queue, keys, ttl, options);
    this.patience = new WaitDeadline(context.clock, options);
  }

  get keys(): readonly string[] {
    return this.ticket.keys;
  }

  get effort(): AcquireEffort {
    const waited = this.#context.clock.now() - this.patience.since;
    return { waited, attempts: this.#madeAttempts?.count ?? 0 };
  }

  /** It was refused at first, and counts as a waiter. */
  get isInWait(): boolean {
    return this.#isCounted;
  }

  get mayWait(): boolean {
    return this.options.waitTimeout > 0 && this.options.retryCount > 0;
  }

  get timers(): TimerQueue {
    return this.#context.timers;
  }

  /** Ends the wait: `untilGranted` rejects with `reason`. */
  stop(reason: unknown): void {
    this.isStopped = true;
    if (!this.ticket.stop(reason)) this.patience.stop(reason);
  }

  /** One attempt. Resolves `undefined` when another caller holds a key, in this process or elsewhere. */
  once<Result>(keep: Keep<Result>): Promise<Result | undefined> {
    if (!this.ticket.take(true)) return this.#refusedInQueue();
    return this.#attempts.make((grant) => (grant ? keep(grant) : this.#refused()));
  }

  /** Rejects with `LockTimeoutError`, `LockStoreError` or the reason of the signal. */
  untilGranted<Result>(keep: Keep<Result>): Promise<Result> {
    if (this.ticket.take(!this.mayWait)) {
      return this.#attempts.make((grant) => (grant ? keep(grant) : this.#wait().then(keep)));
    }
    return this.#waitInQueue().then(
      (handedOff) => this.#wait(handedOff).then(keep),
      (reason) => this.#rethrow(reason),
    );
  }

  /** To be called once, when it has been granted or has failed. */
  ended(): void {
    if (this.#isCounted) this.#context.waiters.leave(this.ticket.keys);
  }

  /** The caller in front may not have been answered for long. */
  beforeDeadline(): void {
    this.#attempts.feelPulse();
  }

  /** Not "held" while the store fails: the holder is unknown then, unless it is one of this process. */
  tooLate(): unknown {
    const { failure } = this.ticket;
    if (failure !== undefined) return this.#attempts.failure(reasonOf(failure), failure);
    const error = this.#attempts.atDeadline();
    const isHeldHere = error instanceof LockStoreError && hasHolderHere(this.#context, this.keys);
    return isHeldHere ? this.#attempts.timeout() : error;
  }

  async #refusedInQueue(): Promise<undefined> {
    const { permitsError } = this.ticket;
    if (permitsError) return this.#rethrow(permitsError);
    return this.#refused();
  }

  async #waitInQueue(): Promise<HandedOff | undefined> {
    const { permitsError } = this.ticket;
    if (permitsError) throw permitsError;
    if (!this.mayWait) return undefined;
    this.#beginWait();
    return this.ticket.wait(this);
  }

  /** Throws `LockQueueFullError` when too many callers wait already. */
  #beginWait(): void {
    if (this.#isCounted) return;
    const { waiters, events, store } = this.#context;
    waiters.enter(this.keys, this.options.maxWaiting);
    this.#isCounted = true;
    events.publish('waiting', () => attemptEvent(store, this));
  }

  #refused(): undefined {
    const { tooLate } = this.#attempts;
    this.#fail(tooLate);
    if (tooLate) throw tooLate;
  }

  #fail(error: unknown): void {
    this.ticket.leave(error instanceof LockStoreError ? error : undefined);
    this.#onFailure(this, error);
  }

  async #rethrow(error: unknown): Promise<never> {
    if (!(error instanceof LockTimeoutError)) {
      this.#fail(error);
      throw error;
    }
    this.ticket.leave(); // the callers behind do not wait for the explanation
    const explained = this.#explain?.(error) ?? (await withHolder(this.#context, this, error));
    this.#fail(explained);
    throw explained;
  }

  /** Created on first use: a caller in the local queue may never ask the store. */
  get #attempts(): StoreAttempts {
    this.#madeAttempts ??= new StoreAttempts(this.#context, this.ticket, this.patience, (error) => {
      if (!this.#isWaiting) this.#fail(error);
    });
    return this.#madeAttempts;
  }

  /** At the front of the queue, perhaps with a lease that the previous holder handed off. */
  async #wait(handedOff?: HandedOff): Promise<Grant> {
    this.#isWaiting = true;
    try {
      const grant =
        (handedOff && (await this.#attempts.take(handedOff))) ?? (await this.#contend());
      if (grant) return grant;
      throw this.#attempts.tooLate ?? this.#attempts.timeout();
    } catch (error) {
      return this.#rethrow(error);
    }
  }

  async #contend(): Promise<Grant | undefined> {
    if (!this.mayWait) return undefined;
    this.#beginWait();
    const { store, clock } = this.#context;
    const { ticket, patience } = this;
    const contender = { store, clock, ticket, patience, attempts: this.#attempts, limits: this };
    return new Contention(contender).untilGranted();
  }
}
