import type { Clock } from './clock.js';
import { requestFor } from './acquire-request.js';
import { checkAttempt, giveBack, whyUseless } from './grant.js';
import type { Grant, Passed } from './grant.js';
import { deadlineError, storeFailure, timeoutOf } from './acquire/attempt-errors.js';
import type { Attempted } from './acquire/attempt-errors.js';
import { LockError } from './lock-errors.js';
import type { LockStoreError, LockTimeoutError } from './lock-errors.js';
import type { AcquireRequest, LockStore } from './lock-store.js';
import { tryAcquireAll } from './many-keys.js';
import type { Patience } from './patience.js';
import { reasonOf } from './contract/safe-error.js';
import { LONGEST_SILENCE } from './store/store-pulse.js';
import type { Pulse, StorePulse } from './store/store-pulse.js';
import { StoreTimeout } from './store-call.js';
import type { StoreCalls } from './store-call.js';
import { Question } from './question.js';
import type { Asked } from './question.js';
import type { Turn } from './turn.js';

export interface AttemptSurroundings {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
  readonly pulse: StorePulse;
}

/** What one caller asks of the store until it has a grant, and the clean-up after whatever came too late. */
export class Attempts {
  /** How often the store was asked. */
  count = 0;
  /** Of several keys, the one that somebody else had at the last attempt, where that is known. */
  refusedBy: string | undefined;
  readonly #around: AttemptSurroundings;
  readonly #turn: Turn;
  readonly #patience: Patience;
  readonly #failed: (error: unknown) => void;
  #madeRequest: AcquireRequest | undefined;
  #wasHeld = false;
  /** When the store was asked last. */
  #askedAt = 0;
  /** Felt before the end of a wait in its queue. */
  #pulse: Pulse | undefined;
  /** Set while the last answer was a grant that came too late to be of use. */
  #tooLate: LockStoreError | undefined;

  /** `failed` gets every error before it is thrown. */
  constructor(
    around: AttemptSurroundings,
    turn: Turn,
    patience: Patience,
    failed: (error: unknown) => void,
  ) {
    this.#around = around;
    this.#turn = turn;
    this.#patience = patience;
    this.#failed = failed;
  }

  get request(): AcquireRequest {
    this.#madeRequest ??= requestFor(this.#turn, this.#patience.options.storeTimeout);
    return this.#madeRequest;
  }

  get tooLate(): LockStoreError | undefined {
    return this.#tooLate;
  }

  /** Asks for the keys once. */
  make<Result>(then: (grant: Grant | undefined) => Result | Promise<Result>): Promise<Result> {
    this.count++;
    this.refusedBy = undefined;
    const { store, clock } = this.#around;
    const sentAt = clock.now();
    this.#askedAt = sentAt;
    return this.ask(
      (asked) => tryAcquireAll(store, this.request, asked, this),
      checkAttempt,
      (lease) => {
        this.#turn.answered();
        this.#tooLate = undefined;
        this.#wasHeld ||= !lease;
        return then(lease && this.inTime({ lease, sentAt }));
      },
      giveBack,
    );
  }

  /** Asks for the keys once, for the grant itself. */
  one(): Promise<Grant | undefined> {
    return this.make((grant) => grant);
  }

  /** What is asked for next has a token of its own, which a late release of what was granted before cannot free. */
  startAnew(): void {
    this.#madeRequest = undefined;
  }

  /** The store has answered, from its queue. */
  answered(): void {
    this.#turn.answered();
  }

  /** What the holder before passed on. */
  take({ lease, ...times }: Passed): Grant | undefined | Promise<Grant | undefined> {
    if (!(lease instanceof Promise)) return this.inTime({ lease, ...times });
    return this.ask(
      () => lease,
      checkAttempt,
      (answer) => answer && this.inTime({ lease: answer, ...times }),
      giveBack,
    );
  }

  /** A grant that is used up on arrival is not handed out. */
  inTime(grant: Grant): Grant | undefined {
    const { store, clock } = this.#around;
    const ttl = store.supports.ttl ? this.#turn.ttl : undefined;
    const why = whyUseless(grant, clock.now(), ttl, this.#patience.options);
    if (why === undefined) return grant;
    giveBack(grant.lease);
    this.#tooLate = this.failure(why);
    return undefined;
  }

  /** `late` gets an answer that nobody waits for any more. */
  ask<Answer, Result>(
    ask: (asked: Asked) => Promise<Answer>,
    check: (answer: unknown) => void,
    read: (answer: Answer) => Result | Promise<Result>,
    late: (answer: Answer) => void,
    within = this.#patience.callLimit,
  ): Promise<Result> {
    return this.#around.calls.make(
      new Question(this, ask, check, read, late, within, this.#patience.signal),
    );
  }

  /** Throws what is to be reported of an `error` of the store, or of the `signal` that ended the wait for it. */
  refuse(error: unknown, signal: AbortSignal | undefined): never {
    const reported = this.#reported(error, signal);
    this.#failed(reported);
    throw reported;
  }

  #reported(error: unknown, signal: AbortSignal | undefined): unknown {
    if (error instanceof LockError || (signal?.aborted && error === signal.reason)) return error;
    const isShort = this.#around.clock.now() - this.#askedAt < LONGEST_SILENCE;
    const isLastAttempt = this.#wasHeld && this.#patience.left <= 0 && isShort;
    if (error instanceof StoreTimeout && isLastAttempt) return this.timeout();
    return this.failure(reasonOf(error), error);
  }

  failure(why: string, cause?: unknown): LockStoreError {
    return storeFailure(this.#attempted, why, cause);
  }

  /** Soon comes the deadline of a wait in the queue of the store, which may have said nothing for long. */
  beforeDeadline(): void {
    this.#pulse = this.#around.pulse.feel(this.#turn.keys[0]!);
  }

  /** For the deadline of a wait in the queue of the store. */
  atDeadline(): LockStoreError | LockTimeoutError {
    return deadlineError(this.#attempted, this.#pulse);
  }

  timeout(): LockTimeoutError {
    return timeoutOf(this.#attempted);
  }

  get #attempted(): Attempted {
    return {
      store: this.#around.store,
      keys: this.#turn.keys,
      options: this.#patience.options,
      request: this.#madeRequest,
      count: this.count,
    };
  }
}
