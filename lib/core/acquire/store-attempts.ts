import type { Clock } from '../async/clock.js';
import { requestFor } from '../store/acquire-request.js';
import type { Asked, PastAttempt } from '../store/acquire-request.js';
import { checkAttempt, giveBack, whyUseless } from '../store/grant.js';
import type { Grant, HandedOff } from '../store/grant.js';
import { deadlineError, storeFailure, timeoutOf, uselessGrant } from './attempt-errors.js';
import type { Attempted } from './attempt-errors.js';
import { LockError } from '../contract/lock-errors.js';
import type { LockStoreError, LockTimeoutError } from '../contract/lock-errors.js';
import type { AcquireRequest, Lease, LockStore } from '../contract/lock-store.js';
import { isKeyByKey, tryAcquireAll } from '../store/many-keys.js';
import type { WaitDeadline } from './wait-deadline.js';
import { LONGEST_SILENCE } from '../store/store-pulse.js';
import type { Pulse, StorePulse } from '../store/store-pulse.js';
import { StoreTimeout } from '../store/bounded-call.js';
import type { StoreCalls } from '../store/store-call.js';
import type { LocalQueues } from '../queue/local-queues.js';
import type { LocalCaller, LocalTicket } from '../queue/local-ticket.js';

export interface AttemptContext {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
  readonly pulse: StorePulse;
  readonly queue: LocalQueues<LocalTicket>;
}

/** A caller's calls to the store beyond its first, until it has a grant, and the clean-up of late answers. */
export class StoreAttempts {
  /** Number of attempts made. */
  count = 0;
  /** Of several keys, the one that another caller had at the last attempt, where that is known. */
  refusedBy: string | undefined;
  readonly #context: AttemptContext;
  readonly #caller: LocalCaller;
  readonly #deadline: WaitDeadline;
  readonly #failed: (error: unknown) => void;
  #madeRequest: AcquireRequest | undefined;
  #wasHeld = false;
  /** When the store was asked last. */
  #askedAt = 0;
  /** The liveness check before the end of a wait in the store's queue. */
  #pulse: Pulse | undefined;
  /** Set while the last answer was a grant that arrived too late for use. */
  tooLate: LockStoreError | undefined;

  /** `failed` gets every error before it is thrown. */
  constructor(
    context: AttemptContext,
    caller: LocalCaller,
    waitDeadline: WaitDeadline,
    failed: (error: unknown) => void,
  ) {
    this.#context = context;
    this.#caller = caller;
    this.#deadline = waitDeadline;
    this.#failed = failed;
  }

  /** After the caller's own first attempt. */
  follow({ request, sentAt, refusedBy }: PastAttempt): void {
    this.count++;
    this.refusedBy = refusedBy;
    this.#madeRequest = request;
    this.#askedAt = sentAt;
  }

  /** That attempt was answered. */
  first(lease: Lease | undefined): void {
    void (lease ? this.inTime({ lease, sentAt: this.#askedAt }) : this.#refused());
  }

  get request(): AcquireRequest {
    return (this.#madeRequest ??= requestFor(this.#caller, this.#deadline.options.storeTimeout));
  }

  /** Asks for the keys once. */
  one(): Promise<Grant | undefined> {
    this.count++;
    this.refusedBy = undefined;
    const { store, clock } = this.#context;
    const sentAt = (this.#askedAt = clock.now());
    return this.ask(
      (asked) => tryAcquireAll(store, this.request, asked, this),
      checkAttempt,
      (lease) => {
        this.answered();
        this.tooLate = undefined;
        return lease ? this.inTime({ lease, sentAt }) : this.#refused();
      },
      giveBack,
    );
  }

  /** The next request gets a token of its own: a late release of a previous grant, or of some of its keys, cannot free it. */
  startAnew(): void {
    this.#madeRequest = undefined;
  }

  #refused(): undefined {
    this.#wasHeld = true;
    if (isKeyByKey(this.#context.store, this.#caller.keys)) this.startAnew();
  }

  /** The store has answered, from its queue. */
  answered(): void {
    this.#context.queue.answered(this.#caller.keys);
  }

  /** A lease that the previous holder handed off. */
  take({ lease, ...times }: HandedOff): Grant | undefined | Promise<Grant | undefined> {
    if (!(lease instanceof Promise)) return this.inTime({ lease, ...times });
    return this.ask(
      () => lease,
      checkAttempt,
      (answer) => answer && this.inTime({ lease: answer, ...times }),
      giveBack,
    );
  }

  /** A grant whose validity is used up on arrival is not handed out. */
  inTime(grant: Grant): Grant | undefined {
    const { store, clock } = this.#context;
    const ttl = store.supports.ttl ? this.#caller.ttl : undefined;
    const why = whyUseless(grant, clock.now(), ttl, this.#deadline.options);
    if (why === undefined) return grant;
    giveBack(grant.lease);
    this.tooLate = uselessGrant(this.#attempted, why);
    this.startAnew();
    return undefined;
  }

  /** `late` gets an answer that no caller awaits any more. */
  ask<Answer, Result>(
    ask: (asked: Asked) => Promise<Answer>,
    check: (answer: unknown) => void,
    read: (answer: Answer) => Result | Promise<Result>,
    late: (answer: Answer) => void,
    within = this.#deadline.callLimit,
  ): Promise<Result> {
    const { signal } = this.#deadline;
    const asked = { isGone: false };
    const recover = (error: unknown): never => {
      asked.isGone = true;
      return this.refuse(error, signal);
    };
    return this.#context.calls.make({ ask: () => ask(asked), check, read, recover, late, within, signal }); // prettier-ignore
  }

  /** Throws the error to report for an `error` of the store, or for the `signal` that ended the wait. */
  refuse(error: unknown, signal: AbortSignal | undefined): never {
    const reported = this.#reported(error, signal);
    this.#failed(reported);
    throw reported;
  }

  #reported(error: unknown, signal: AbortSignal | undefined): unknown {
    if (error instanceof LockError || (signal?.aborted && error === signal.reason)) return error;
    const isShort = this.#context.clock.now() - this.#askedAt < LONGEST_SILENCE;
    const isLastAttempt = this.#wasHeld && this.#deadline.left <= 0 && isShort;
    if (error instanceof StoreTimeout && isLastAttempt) return this.timeout();
    return this.failure(error);
  }

  failure(error: unknown): LockStoreError {
    return storeFailure(this.#attempted, error);
  }

  /** Shortly before the deadline of a wait in the store's queue: the store may have been silent for long. */
  beforeDeadline(): void {
    const { store } = this.#context;
    if (this.#madeRequest) store.beforeDeadline?.(this.#madeRequest);
    if (!store.waitFailure) this.feelPulse();
  }

  /** Asks for a sign of life, and does not wait for it. */
  feelPulse(): void {
    this.#pulse = this.#context.pulse.feel(this.#caller.keys[0]!);
  }

  /** For the deadline of a wait in the store's queue, or behind a caller that waits there. */
  atDeadline(): LockStoreError | LockTimeoutError {
    return deadlineError(this.#attempted, this.#pulse);
  }

  timeout(): LockTimeoutError {
    return timeoutOf(this.#attempted);
  }

  get #attempted(): Attempted {
    return {
      store: this.#context.store,
      keys: this.#caller.keys,
      options: this.#deadline.options,
      request: this.#madeRequest,
      count: this.count,
      refusedBy: this.refusedBy,
    };
  }
}
