import { sleep } from './clock.js';
import type { Clock } from './clock.js';
import { giveBack, whyUseless } from './grant.js';
import type { Grant } from './grant.js';
import { LockError, LockStoreError, LockTimeoutError } from './lock-errors.js';
import { keyNames } from './lock-keys.js';
import type { ResolvedLockOptions } from './lock-options.js';
import type { AcquireRequest, Lease, LockStore } from './lock-store.js';
import { canQueueAll, tryAcquireAll } from './many-keys.js';
import { Patience } from './patience.js';
import { StoreTimeout, reasonOf } from './store-call.js';
import type { StoreCalls } from './store-call.js';

interface Reading<Answer, Result> {
  readonly read: (answer: Answer) => Result | Promise<Result>;
  /** For an answer that nobody waits for any more. */
  readonly late: (answer: Answer) => void;
  /** Milliseconds for the answer. */
  readonly within?: number;
}

export interface AcquisitionSurroundings {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
}

/** Makes of a grant what the caller wants. Called in the turn in which it arrived, without a promise in between. */
type Keep<Result> = (grant: Grant) => Result | Promise<Result>;

/** One caller's way to a grant: attempts, the wait between them, and the clean-up after whatever came too late. */
export class Acquisition {
  readonly request: AcquireRequest;
  readonly options: ResolvedLockOptions;
  readonly #around: AcquisitionSurroundings;
  readonly #patience: Patience;
  readonly #onFailure: (self: Acquisition) => void;
  #attempts = 0;
  #wasHeld = false;
  #isWaiting = false;
  /** Set while the last answer was a grant that came too late to be of use. */
  #tooLate: LockStoreError | undefined;

  constructor(
    around: AcquisitionSurroundings,
    request: AcquireRequest,
    options: ResolvedLockOptions,
    onFailure: (self: Acquisition) => void,
  ) {
    this.#around = around;
    this.#onFailure = onFailure;
    this.request = request;
    this.options = options;
    this.#patience = new Patience(around.clock, options);
  }

  /** Ends the wait: `untilGranted` rejects with `reason`. */
  stop(reason: unknown): void {
    this.#patience.stop(reason);
  }

  /** One attempt. Resolves `undefined` when someone else holds a key. */
  once<Result>(keep: Keep<Result>): Promise<Result | undefined> {
    return this.#attempt((grant) => {
      if (grant) return keep(grant);
      this.#onFailure(this);
      if (this.#tooLate) throw this.#tooLate;
      return undefined;
    });
  }

  /** Rejects with `LockTimeoutError`, `LockStoreError` or the reason of the signal. */
  untilGranted<Result>(keep: Keep<Result>): Promise<Result> {
    return this.#attempt((grant) => (grant ? keep(grant) : this.#wait().then(keep)));
  }

  async #wait(): Promise<Grant> {
    this.#isWaiting = true;
    try {
      const grant = await this.#later();
      if (grant) return grant;
      throw this.#tooLate ?? this.#timeout();
    } catch (error) {
      this.#onFailure(this);
      throw error;
    }
  }

  async #later(): Promise<Grant | undefined> {
    const { waitTimeout, retryCount } = this.options;
    if (waitTimeout === 0 || retryCount === 0) return undefined;
    if (!canQueueAll(this.#around.store, this.request))
      return this.#patience.during((signal) => this.#poll(signal));
    return this.#patience.untilDeadline(
      (signal) => this.#queue(signal),
      () => this.#timeout(),
    );
  }

  async #poll(signal: AbortSignal): Promise<Grant | undefined> {
    while (this.#attempts <= this.options.retryCount && this.#patience.left > 0) {
      await sleep(this.#around.clock, this.#patience.pause, signal);
      signal.throwIfAborted();
      const grant = await this.#attempt(asItIs);
      if (grant) return grant;
    }
    return undefined;
  }

  /** The store waits. What it hands over is a claim, which one `extend` turns into a whole ttl. */
  async #queue(signal: AbortSignal): Promise<Grant | undefined> {
    while (this.#patience.left > 0) {
      signal.throwIfAborted();
      this.#attempts++;
      const claim = await this.#ask(
        () => this.#around.store.acquire!(this.request, signal),
        { read: (lease) => lease, late: giveBack, within: Infinity }, // it waits, so only the deadline ends it
      );
      const grant = await this.#confirmed(claim);
      if (grant) return grant;
    }
    return undefined;
  }

  async #confirmed(lease: Lease): Promise<Grant | undefined> {
    const { store, clock } = this.#around;
    const grant = { lease, sentAt: clock.now() };
    if (!store.supports.ttl) return this.#inTime(grant);
    try {
      return await this.#ask(() => lease.extend(this.request.ttl), {
        read: (isOurs) => (isOurs ? this.#inTime(grant) : undefined),
        late: () => giveBack(lease),
      });
    } catch (error) {
      giveBack(lease); // it may have been extended all the same
      throw error;
    }
  }

  #attempt<Result>(then: (grant: Grant | undefined) => Result | Promise<Result>): Promise<Result> {
    this.#attempts++;
    const { store, clock } = this.#around;
    const sentAt = clock.now();
    return this.#ask(() => tryAcquireAll(store, this.request), {
      read: (lease) => {
        this.#tooLate = undefined;
        this.#wasHeld ||= !lease;
        return then(lease && this.#inTime({ lease, sentAt }));
      },
      late: giveBack,
    });
  }

  /** A grant that is used up on arrival is not handed out. */
  #inTime(grant: Grant): Grant | undefined {
    const { store, clock } = this.#around;
    const ttl = store.supports.ttl ? this.request.ttl : undefined;
    const why = whyUseless(grant, clock.now(), ttl, this.options);
    if (why === undefined) return grant;
    giveBack(grant.lease);
    this.#tooLate = this.#failure(why);
    return undefined;
  }

  #ask<Answer, Result>(
    ask: () => Promise<Answer>,
    { read, late, within = this.#patience.callLimit }: Reading<Answer, Result>,
  ): Promise<Result> {
    const { signal } = this.#patience;
    const recover = (error: unknown): never => {
      if (!this.#isWaiting) this.#onFailure(this);
      throw this.#reported(error, signal);
    };
    return this.#around.calls.make({ ask, within, signal, read, late, recover });
  }

  #reported(error: unknown, signal: AbortSignal | undefined): unknown {
    if (error instanceof LockError || (signal?.aborted && error === signal.reason)) return error;
    const isLastAttempt = this.#wasHeld && this.#patience.left <= 0;
    if (error instanceof StoreTimeout && isLastAttempt) return this.#timeout();
    return this.#failure(reasonOf(error), error);
  }

  #failure(why: string, cause?: unknown): LockStoreError {
    const { name } = this.#around.store;
    return new LockStoreError(keyNames(this.request.keys), name, why, { cause });
  }

  #timeout(): LockTimeoutError {
    return new LockTimeoutError(keyNames(this.request.keys), this.options.waitTimeout, {
      attempts: this.#attempts,
    });
  }
}

function asItIs<T>(value: T): T {
  return value;
}
