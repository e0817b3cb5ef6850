import type { Clock } from './clock.js';
import { LockLostError, LockStoreError } from './lock-errors.js';
import type { LockLostReason } from './lock-errors.js';
import type { LockEvent, LockEvents, LockState } from './lock-events.js';
import { keyNames } from './lock-keys.js';
import type { ResolvedLockOptions } from './lock-options.js';
import type { AcquireRequest, Lease, LockStore } from './lock-store.js';
import type { StoreCalls } from './store-call.js';
import { validUntil } from './validity.js';

/** A lease as it arrived, with the clock's reading from before it was asked for. */
export interface Grant {
  readonly lease: Lease;
  readonly sentAt: number;
}

/** What the leases of one service share. */
export interface LeaseSurroundings {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
  readonly events: LockEvents;
  /** Told of every change that moves a lease's next deadline. */
  readonly keeper: { extended(lease: HeldLease): void; ended(lease: HeldLease): void };
}

/** A lease from its grant to its end: how long it may be relied on, and the way `held → jeopardy → lost | released`. */
export class HeldLease {
  readonly keys: readonly string[];
  readonly options: ResolvedLockOptions;
  readonly #lease: Lease;
  readonly #around: LeaseSurroundings;
  readonly #grantedAt: number;
  readonly #holdUntil: number;
  #state: LockState = 'held';
  #ttl: number;
  #extendedAt: number;
  #validUntil: number;
  #lostError: LockLostError | undefined;
  #controller: AbortController | undefined;
  #lastExtension: Promise<unknown> = Promise.resolve();
  #released: Promise<boolean> | undefined;

  constructor(
    grant: Grant,
    request: AcquireRequest,
    options: ResolvedLockOptions,
    around: LeaseSurroundings,
  ) {
    this.keys = request.keys;
    this.options = options;
    this.#lease = grant.lease;
    this.#around = around;
    this.#ttl = request.ttl;
    this.#grantedAt = around.clock.now();
    this.#holdUntil = grant.sentAt + options.maxHold;
    this.#extendedAt = grant.sentAt;
    this.#validUntil = this.#validity(grant.sentAt, request.ttl);
    grant.lease.lost?.addEventListener('abort', this.#sessionEnded, { once: true });
    if (grant.lease.lost?.aborted) this.#lose('session');
  }

  get fencingToken(): bigint | undefined {
    return this.#lease.fencingToken;
  }

  get state(): LockState {
    this.check();
    return this.#state;
  }

  get isHeld(): boolean {
    return this.state === 'held' || this.#state === 'jeopardy';
  }

  /** Why it was lost. Missing while it is held and after an ordinary release. */
  get lostError(): LockLostError | undefined {
    this.check();
    return this.#lostError;
  }

  /** When the time that may be relied on ends, by the clock of the service. */
  get validUntil(): number {
    return this.#validUntil;
  }

  /** Milliseconds, never negative. */
  get remaining(): number {
    return Math.max(0, this.#validUntil - this.#around.clock.now());
  }

  /** When the next extension is due. A third of the ttl leaves two more chances after one failed attempt. */
  get extensionDue(): number {
    const { store } = this.#around;
    if (!this.options.autoExtend || !store.supports.ttl || this.#isFinal) return Infinity;
    return this.#extendedAt + this.#ttl / 3;
  }

  get ttl(): number {
    return this.#ttl;
  }

  /** Made when first asked for: most locks are never watched. */
  get signal(): AbortSignal {
    this.check();
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#lostError) this.#controller.abort(this.#lostError);
    }
    return this.#controller.signal;
  }

  /** Tells the truth at once, also when no timer could run for a while. */
  check(): void {
    if (this.#isActive && this.#around.clock.now() >= this.#validUntil) {
      this.#lose(this.#isFinal ? 'max-hold' : 'expired');
    }
  }

  assertHeld(): void {
    if (!this.isHeld) throw this.#lostError ?? this.#lossOf('released');
  }

  /**
   * Rejects with `LockLostError` when the lease is no longer ours, with `LockStoreError` when the store failed. One at a
   * time, for the replies of two could arrive in either order.
   */
  extend(ttl: number, answerWithin = this.options.storeTimeout): Promise<void> {
    const extension = this.#lastExtension.then(() => this.#extend(ttl, answerWithin));
    this.#lastExtension = extension.catch(() => undefined);
    return extension;
  }

  /** Never rejects. Resolves `false` when it was lost before, or when the store did not confirm: the ttl then frees the key. */
  release(): Promise<boolean> {
    this.#released ??= this.#release();
    return this.#released;
  }

  /** Takes the lease from its holder, who is told by the signal, and frees the key. Never rejects. */
  async withdraw(): Promise<void> {
    if (!this.isHeld) return;
    this.#lose('closed');
    await this.#handBack(() => this.#lease.release());
  }

  jeopardise(error: unknown): void {
    this.#state = 'jeopardy';
    const { remaining } = this;
    this.#around.events.publish('jeopardy', () => ({ ...this.event(), error, remaining }));
  }

  event(): LockEvent {
    const { keys, fencingToken } = this;
    return { key: keys[0]!, keys, fencingToken, store: this.#around.store.name };
  }

  async #extend(ttl: number, answerWithin: number): Promise<void> {
    this.assertHeld();
    const { clock, calls, keeper, events } = this.#around;
    const sentAt = clock.now();
    const capped = Math.max(1, Math.floor(Math.min(ttl, this.#holdUntil - sentAt)));
    const validity = this.#validity(sentAt, capped);
    // A shorter ttl may take effect at any time from now on, whenever its reply comes.
    this.#validUntil = Math.min(this.#validUntil, validity);
    const left = Math.max(this.#validUntil - sentAt, 0);
    const answer = this.#lease.extend(capped);
    answer.then(this.#handBackLate, () => undefined);
    const isOurs = await this.#asked(calls.within(answer, Math.min(answerWithin, left)));
    this.assertHeld();
    if (!isOurs) throw this.#lose('gone');
    this.#ttl = ttl;
    this.#extendedAt = sentAt;
    this.#validUntil = validity;
    if (this.#state === 'jeopardy') {
      this.#state = 'held';
      events.publish('recovered', () => this.event());
    }
    keeper.extended(this);
  }

  async #asked<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      this.assertHeld();
      const why = error instanceof Error ? error.message : String(error);
      const { store } = this.#around;
      throw new LockStoreError(keyNames(this.keys), store.name, why, { cause: error });
    }
  }

  async #release(): Promise<boolean> {
    if (!this.isHeld) return false;
    this.#end('released');
    const rest = this.#grantedAt + this.options.minHold - this.#around.clock.now();
    const freed = await this.#handBack(() =>
      rest >= 1 ? this.#lease.extend(Math.ceil(rest)) : this.#lease.release(),
    );
    if (freed === false) this.#lose('gone');
    else if (freed) this.#around.events.publish('released', () => this.event());
    return freed === true;
  }

  /** Resolves `undefined` when the store failed. */
  async #handBack(give: () => Promise<boolean>): Promise<boolean | undefined> {
    const { calls, events } = this.#around;
    try {
      return await calls.within(give(), this.options.storeTimeout);
    } catch (error) {
      events.publish('releaseFailed', () => ({ ...this.event(), error }));
      return undefined;
    }
  }

  /** An extension that came through after the lease was given up keeps the key for nobody. */
  readonly #handBackLate = (isOurs: boolean): void => {
    if (isOurs && this.lostError) void this.#handBack(() => this.#lease.release());
  };

  readonly #sessionEnded = (): void => void this.#lose('session');

  #lose(reason: LockLostReason): LockLostError {
    const error = this.#lossOf(reason);
    this.#lostError = error;
    this.#end('lost');
    this.#controller?.abort(error);
    this.#around.events.publish('lost', () => ({ ...this.event(), error }));
    if (reason === 'max-hold' && !this.#around.store.supports.ttl) {
      void this.#handBack(() => this.#lease.release());
    }
    return error;
  }

  #lossOf(reason: LockLostReason): LockLostError {
    return new LockLostError(keyNames(this.keys), reason);
  }

  #end(state: 'lost' | 'released'): void {
    this.#state = state;
    this.#lease.lost?.removeEventListener('abort', this.#sessionEnded);
    this.#around.keeper.ended(this);
  }

  get #isActive(): boolean {
    return this.#state === 'held' || this.#state === 'jeopardy';
  }

  /** The last extension that `maxHold` allows has been made. */
  get #isFinal(): boolean {
    return this.#extendedAt + this.#ttl >= this.#holdUntil;
  }

  #validity(sentAt: number, ttl: number): number {
    const { supports } = this.#around.store;
    return Math.min(supports.ttl ? validUntil(sentAt, ttl) : Infinity, this.#holdUntil);
  }
}
