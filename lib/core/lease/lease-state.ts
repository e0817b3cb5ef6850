import { offAbort, onAbort } from '../async/abort-listeners.js';
import { storeFailureOf } from '../store/store-failure.js';
import { giveBack } from '../store/grant.js';
import { LockLostError, type LockStoreError } from '../contract/lock-errors.js';
import type { LockLostReason } from '../contract/lock-errors.js';
import type { LockState } from '../events/hold-events.js';
import { keyNames } from '../keys/lock-keys.js';
import { LeaseValidity } from './lease-validity.js';
import { LossSignal } from './loss-signal.js';

/** The state of a lease, `held → jeopardy → lost | released`, and the events of its changes. */
export abstract class LeaseState extends LeaseValidity {
  get state(): LockState {
    this.look();
    return this.current;
  }

  get isHeld(): boolean {
    this.look();
    return this.isActive;
  }

  /** Why it was lost. Missing while it is held and after an ordinary release. */
  get lostError(): LockLostError | undefined {
    this.look();
    return this.madeLoss?.error;
  }

  /** Milliseconds of validity, never negative. */
  get remaining(): number {
    return Math.max(0, this.until - this.context.clock.now());
  }

  /** The ttl of an automatic extension. */
  get nextTtl(): number {
    if (this.extensionDue < Infinity || !this.context.store.supports.ttl) return this.ttl;
    return Math.max(1, Math.ceil(this.remaining));
  }

  get lossSignal(): AbortSignal {
    this.look();
    return this.#loss.signal;
  }

  /** Correct at once, also when no timer could run for a while. */
  look(): void {
    if (!this.isActive) return;
    if (this.granted.lost?.aborted) this.lose('session');
    else if (this.context.clock.now() >= this.until) this.#expire();
  }

  assertHeld(): void {
    if (!this.isHeld) throw this.madeLoss?.error ?? this.#lossOf('released');
  }

  /** The validity counts from a request for `ttl` that was sent at `sentAt`. */
  override count(sentAt: number, ttl: number): void {
    super.count(sentAt, ttl);
    this.context.keeper.extended(this);
  }

  /** An extension failed. */
  jeopardise(error: unknown): void {
    this.current = 'jeopardy';
    const { remaining } = this;
    this.progress?.jeopardy(error);
    this.context.events.publish('jeopardy', () => ({ ...this.holdEvent(), error, remaining }));
  }

  /** An extension succeeded. */
  recovered(): void {
    if (this.current !== 'jeopardy') return;
    this.current = 'held';
    this.context.events.publish('recovered', () => this.holdEvent());
  }

  /** Once: a store may report the loss of a lease that a call has already found. */
  lose(reason: LockLostReason): LockLostError {
    if (this.madeLoss?.error) return this.madeLoss.error;
    const error = this.#lossOf(reason);
    const isLeft = this.isActive && reason === 'gone' && this.keys.length > 1;
    this.end('lost');
    if (isLeft) giveBack(this.granted); // otherwise the rest of several keys would stay taken without a holder
    this.#loss.tell(error);
    this.progress?.lost(error);
    this.context.events.publish('lost', () => ({ ...this.holdEvent(), error }));
    return error;
  }

  /** It is held for too long, and stays held, or `isLost` by that. */
  overdue(isLost: boolean): void {
    const { maxHold, overdueAfter } = this.options;
    this.context.events.publish('overdue', () => {
      return { ...this.holdEvent(), isLost, maxHold, overdueAfter };
    });
  }

  protected end(state: 'lost' | 'released'): void {
    this.current = state;
    this.isActive = false;
    this.unwatch?.();
    this.context.keeper.ended(this);
    if (!this.keepsFront) this.leaveFront();
  }

  /** Makes room for other callers of the process. Safe to call twice. */
  protected leaveFront(): void {
    if (!this.isAtFront) return;
    this.isAtFront = false;
    this.context.queue.leave(this.keys);
  }

  /** Called when the validity ended. */
  protected abstract outlived(): void;

  #expire(): void {
    const { isFinal } = this;
    this.lose(isFinal ? 'max-hold' : 'expired');
    if (isFinal) this.overdue(true);
    this.outlived();
  }

  /** The lease ends with a session. */
  protected watch(session: AbortSignal): void {
    const ended = { handleEvent: () => void this.lose('session') };
    onAbort(session, ended);
    this.unwatch = () => offAbort(session, ended);
  }

  /** The error to report for a store's error. */
  failure(error: unknown): LockStoreError {
    return storeFailureOf(this.context.store, this.keys, error);
  }

  #lossOf(reason: LockLostReason): LockLostError {
    return new LockLostError(keyNames(this.keys), reason);
  }

  get #loss(): LossSignal {
    this.madeLoss ??= new LossSignal(() => this.look());
    return this.madeLoss;
  }
}
