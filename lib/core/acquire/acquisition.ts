import { Contention } from './contention.js';
import { hasHolderHere, withHolder } from './attempt-errors.js';
import { StoreAttempts } from './store-attempts.js';
import { FirstAttempt } from './first-attempt.js';
import { lacksCaller } from '../async/caller-stack.js';
import type { Linked } from '../queue/linked-queue.js';
import type { Grant, HandedOff } from '../store/grant.js';
import type { Lease } from '../contract/lock-store.js';
import { LockStoreError, LockTimeoutError } from '../contract/lock-errors.js';
import type { AcquireEffort } from '../events/attempt-events.js';
import { attemptEvent } from './outcome-events.js';
import type { AcquireCall } from './outcome-events.js';
import { WaitDeadline } from './wait-deadline.js';
import type { TimerQueue } from '../async/timer-queue.js';
import { LocalTicket } from '../queue/local-ticket.js';
import type { TicketLimits } from '../queue/ticket-wait.js';

/** One caller's way to a grant: its first attempt, and what follows a refusal, or a wait for others of its process. */
export class Acquisition
  extends FirstAttempt
  implements TicketLimits, AcquireCall, Linked<Acquisition>
{
  /** Created on first use: an acquisition that succeeds at once never waits. */
  get waitDeadline(): WaitDeadline {
    const { clock } = this.context;
    return (this.madeWaitDeadline ??= new WaitDeadline(clock, this.options, this.since));
  }

  get effort(): AcquireEffort {
    const waited = this.context.clock.now() - this.since;
    return { waited, attempts: this.madeAttempts?.count ?? (this.hasAsked ? 1 : 0) };
  }

  get timers(): TimerQueue {
    return this.context.timers;
  }

  /** Ends the wait: `untilGranted` rejects with `reason`. */
  stop(reason: unknown): void {
    this.isStopped = true;
    if (!this.madeTicket?.stop(reason)) this.waitDeadline.stop(reason);
  }

  recover(error: unknown): never {
    this.isGone = true;
    return this.#attempts.refuse(error, this.signal);
  }

  protected override refused(lease: Lease | undefined): unknown {
    this.#attempts.first(lease);
    return this.isOnce ? this.#refused() : this.#wait();
  }

  /** The caller in front may not have been answered for long. */
  beforeDeadline(): void {
    this.#attempts.feelPulse();
  }

  /** Not "held" while the store fails: the holder is unknown then, unless it is one of this process. */
  tooLate(): unknown {
    const { failure } = this.#ticket;
    if (failure !== undefined) return this.#attempts.failure(failure);
    const error = this.#attempts.atDeadline();
    const isHeldHere = error instanceof LockStoreError && hasHolderHere(this.context, this.keys);
    return isHeldHere ? this.#attempts.timeout() : error;
  }

  protected override async refusedInQueue(): Promise<undefined> {
    const { permitsError } = this.#ticket;
    if (permitsError) return this.#rethrow(permitsError);
    return this.#refused();
  }

  protected override waitInQueue(): Promise<unknown> {
    return this.#comeToFront().then(
      (handedOff) => this.#wait(handedOff),
      (reason) => this.#rethrow(reason),
    );
  }

  async #comeToFront(): Promise<HandedOff | undefined> {
    const { permitsError } = this.#ticket;
    if (permitsError) throw permitsError;
    if (!this.mayWait) return undefined;
    this.#beginWait();
    return this.#ticket.wait(this);
  }

  /** Throws `LockQueueFullError` when too many callers wait already. */
  #beginWait(): void {
    if (this.isInWait) return;
    const { waiters, events, store } = this.context;
    waiters.enter(this.keys, this.options.maxWaiting);
    this.isInWait = true;
    events.publish('waiting', () => attemptEvent(store, this));
  }

  #refused(): undefined {
    const { tooLate } = this.#attempts;
    this.#fail(tooLate);
    if (tooLate) throw tooLate;
  }

  #fail(error: unknown): void {
    this.#ticket.leave(error instanceof LockStoreError ? error : undefined);
    this.owner.failed(this, error);
  }

  async #rethrow(error: unknown): Promise<never> {
    if (!(error instanceof LockTimeoutError)) {
      this.#fail(error);
      throw error;
    }
    this.#ticket.leave(); // the callers behind do not wait for the explanation
    const explained =
      this.nesting?.explain?.(error) ?? (await withHolder(this.context, this, error));
    this.#fail(explained);
    throw lacksCaller(explained);
  }

  /** Created on first use: most callers are granted their keys by the first attempt. */
  get #attempts(): StoreAttempts {
    if (this.madeAttempts) return this.madeAttempts;
    const attempts = new StoreAttempts(this.context, this, this.waitDeadline, (error) => {
      if (!this.isWaiting) this.#fail(error);
    });
    if (this.hasAsked) attempts.follow(this);
    return (this.madeAttempts = attempts);
  }

  /** Created on first use: most callers are at the front of their process when they come, and get what they ask for. */
  get #ticket(): LocalTicket {
    return (this.madeTicket ??= new LocalTicket(this.context.queue, this, this.hasAsked));
  }

  /** At the front of the queue, perhaps with a lease that the previous holder handed off. */
  async #wait(handedOff?: HandedOff): Promise<unknown> {
    const grant = await this.#waited(handedOff);
    return this.owner.granted(this, grant);
  }

  async #waited(handedOff: HandedOff | undefined): Promise<Grant> {
    this.isWaiting = true;
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
    const { store, clock } = this.context;
    const { waitDeadline } = this;
    const ticket = this.#ticket;
    const contender = {
      store,
      clock,
      ticket,
      waitDeadline,
      attempts: this.#attempts,
      limits: this,
    };
    return new Contention(contender).untilGranted();
  }
}
