import { offAbort, onAbort } from './async/abort-listeners.js';
import { reasonOf } from './contract/safe-error.js';
import { giveBack } from './grant.js';
import { LockLostError, LockStoreError } from './lock-errors.js';
import type { LockLostReason } from './lock-errors.js';
import type { LockEvent, LockState } from './lock-events.js';
import { keyNames } from './lock-keys.js';
import type { ResolvedLockOptions } from './lock-options.js';
import { KeeperEntry } from './lease/keeper-entry.js';
import type { LeaseSurroundings } from './lease/lease-surroundings.js';
import type { Lease } from './lock-store.js';
import { Loss } from './loss.js';
import type { Validity } from './validity.js';

/** Where a lease stands on its way `held → jeopardy → lost | released`, and who is told of it. */
export abstract class LeaseLife extends KeeperEntry {
  readonly keys: readonly string[];
  readonly validity: Validity;
  readonly options: ResolvedLockOptions;
  /** How many may hold the keys together. Missing: its holder has them alone. */
  permits: number | undefined;
  /** How many calls use it: the one that took it, and those that are nested in it. */
  uses = 0;
  /** What the store granted. */
  readonly granted: Lease;
  readonly around: LeaseSurroundings;
  /** Made when first needed: most locks are neither lost nor watched. */
  #madeLoss: Loss | undefined;
  #state: LockState = 'held';
  #unwatch: (() => void) | undefined;

  constructor(
    lease: Lease,
    keys: readonly string[],
    validity: Validity,
    options: ResolvedLockOptions,
    around: LeaseSurroundings,
  ) {
    super();
    this.keys = keys;
    this.validity = validity;
    this.options = options;
    this.granted = lease;
    this.around = around;
    if (lease.lost) this.#watch(lease.lost);
  }

  get fencingToken(): bigint | undefined {
    return this.granted.fencingToken;
  }

  get state(): LockState {
    this.check();
    return this.#state;
  }

  get isHeld(): boolean {
    this.check();
    return this.#isActive;
  }

  /** Why it was lost. Missing while it is held and after an ordinary release. */
  get lostError(): LockLostError | undefined {
    this.check();
    return this.#madeLoss?.error;
  }

  /** Milliseconds of validity, never negative. */
  get remaining(): number {
    return Math.max(0, this.validity.until - this.around.clock.now());
  }

  /** What an extension that the holder did not ask for sets the ttl to. */
  get nextTtl(): number {
    const { validity } = this;
    if (validity.extensionDue < Infinity || !this.around.store.supports.ttl) return validity.ttl;
    return Math.max(1, Math.ceil(this.remaining));
  }

  get signal(): AbortSignal {
    this.check();
    return this.#loss.signal;
  }

  /** Tells the truth at once, also when no timer could run for a while. */
  check(): void {
    if (!this.#isActive) return;
    if (this.granted.lost?.aborted) this.lose('session');
    else if (this.around.clock.now() >= this.validity.until) this.#expire();
  }

  assertHeld(): void {
    if (!this.isHeld) throw this.#madeLoss?.error ?? this.#lossOf('released');
  }

  event(): LockEvent {
    const { keys, fencingToken } = this;
    return { key: keys[0]!, keys, fencingToken, store: this.around.store.name };
  }

  /** An extension failed. */
  jeopardise(error: unknown): void {
    this.#state = 'jeopardy';
    const { remaining } = this;
    this.around.events.publish('jeopardy', () => ({ ...this.event(), error, remaining }));
  }

  /** An extension succeeded. */
  recover(): void {
    if (this.#state !== 'jeopardy') return;
    this.#state = 'held';
    this.around.events.publish('recovered', () => this.event());
  }

  /** Once: a store may find out while it is asked, and tell again. */
  lose(reason: LockLostReason): LockLostError {
    if (this.#madeLoss?.error) return this.#madeLoss.error;
    const error = this.#lossOf(reason);
    const isLeft = this.#isActive && reason === 'gone' && this.keys.length > 1;
    this.end('lost');
    if (isLeft) giveBack(this.granted); // the others of several keys would be kept for nobody
    this.#loss.tell(error);
    this.around.events.publish('lost', () => ({ ...this.event(), error }));
    return error;
  }

  protected end(state: 'lost' | 'released'): void {
    this.#state = state;
    this.#unwatch?.();
    this.ended();
  }

  /** Called at every end, before anybody is told of it. */
  protected abstract ended(): void;

  /** Called when the end was that of the validity. */
  protected abstract outlived(): void;

  #expire(): void {
    const { isFinal, maxHold } = this.validity;
    this.lose(isFinal ? 'max-hold' : 'expired');
    if (isFinal) this.around.events.publish('overdue', () => ({ ...this.event(), maxHold }));
    this.outlived();
  }

  #watch(session: AbortSignal): void {
    const ended = { handleEvent: () => void this.lose('session') };
    onAbort(session, ended);
    this.#unwatch = () => offAbort(session, ended);
  }

  /** What is said of an error of the store. */
  failure(error: unknown): LockStoreError {
    const { name } = this.around.store;
    return new LockStoreError(keyNames(this.keys), name, reasonOf(error), { cause: error });
  }

  #lossOf(reason: LockLostReason): LockLostError {
    return new LockLostError(keyNames(this.keys), reason);
  }

  get #loss(): Loss {
    this.#madeLoss ??= new Loss(() => this.check());
    return this.#madeLoss;
  }

  get #isActive(): boolean {
    return this.#state === 'held' || this.#state === 'jeopardy';
  }
}
