import { giveBack, tryHandOff } from '../store/grant.js';
import { LeaseExtensions } from './lease-extension.js';
import { LeaseState } from './lease-state.js';
import {
  Unconfirmed,
  free,
  freeAfter,
  handedOff,
  retire,
  unconfirmed,
  unlessLate,
} from './lease-return.js';
import type { Returned } from './lease-return.js';
import { OverdueWatch } from './overdue-watch.js';
import { checkDowngrade } from '../store/store-checks.js';
import type { StoreRevocation } from '../contract/lock-store.js';
import type { LocalTicket } from '../queue/local-ticket.js';
import { READERS, isShared } from '../sharing/hold-mode.js';

/** A lease from its grant to its end, and its calls to the store. */
export class HeldLease extends LeaseState {
  /** To be called once, at the grant. */
  begin(): void {
    const { granted, options, permits } = this;
    if (granted.lost) this.watch(granted.lost);
    if (options.overdueAfter < Infinity) this.overdueWatch = new OverdueWatch(this);
    if (isShared(permits)) this.leaveFront(); // a sharer makes room at the front at once
    this.context.keeper.keep(this);
  }

  /** Created on first use: most locks are released before their first change. */
  get changes(): LeaseExtensions {
    return (this.madeChanges ??= new LeaseExtensions(this));
  }

  /** Without `ttl`, for its own. Rejects with `LockLostError` when the lease is no longer ours, with `LockStoreError` when the store failed. */
  extend(ttl?: number): Promise<void> {
    return this.changes.extend(ttl);
  }

  /**
   * Whether an extension for `ttl` at `now` may share a call with others: no other change is pending, and the lease has time
   * left.
   */
  mayBeBundled(ttl: number, now: number): boolean {
    const isOfStore = this.keys.length === 1 || this.context.store.supports.manyKeys; // otherwise core combined several leases
    return isOfStore === true && !this.madeChanges?.isBusy && this.isRepeatedBy(now, ttl);
  }

  /**
   * An extension for `ttl` in a shared call, sent at `sentAt`, was answered. Any `answer` but a boolean is the store's error.
   */
  extended(sentAt: number, ttl: number, answer: unknown): void {
    this.giveBackLate(answer);
    if (!this.isHeld) return;
    if (answer === false) this.lose('gone');
    else if (answer !== true) this.jeopardise(this.failure(answer));
    else {
      this.count(sentAt, ttl);
      this.recovered();
    }
  }

  /** Admits readers. Rejects with `LockUnsupportedError` where the store cannot, and as `extend` does. */
  downgrade(): Promise<void> {
    this.assertHeld();
    if (!this.isReader) checkDowngrade(this.context.store, this.granted, this);
    this.permits = READERS; // from the call on: the store may do it, and fail to say so
    return this.changes.downgrade();
  }

  /** The store has admitted readers. */
  downgraded(): void {
    this.isReader = true;
    this.leaveFront();
  }

  /**
   * Never rejects. Resolves `false` when the lock was lost before, or when the store did not confirm: the ttl then frees the
   * key.
   */
  release(): Promise<boolean> {
    return (this.released ??= this.isHeld ? this.#release() : this.#retired());
  }

  /** For a grant that no caller gets. Never rejects. */
  discard(): Promise<void> {
    this.end('released');
    return this.#giveBack();
  }

  /** Takes the lease from its holder, which learns it by the signal, and frees the key. Never rejects. */
  async withdraw(): Promise<void> {
    if (!this.isHeld) return;
    this.lose('closed');
    await this.#giveBack();
  }

  /** For an eviction of a holder with one of these tokens. */
  revoke(revocation: StoreRevocation): void {
    if (!this.isMeantBy(revocation) || !this.isHeld) return;
    this.isRetired = revocation.grace > 0;
    this.lose('revoked');
    if (this.isRetired) retire(this, revocation.grace);
    else if (this.keys.length > 1) giveBack(this.granted); // the others
  }

  /** Gives the lease back. Callers behind this one ask for the key once that is sent. */
  override ask(): Promise<boolean> {
    try {
      return this.granted.release(() => this.remaining > 0);
    } finally {
      this.end('released');
    }
  }

  override read(answer: Returned): boolean {
    this.leaveFront();
    const returned = answer === true || unlessLate(answer, this.remaining);
    if (returned === false) {
      this.lose('gone');
      return false;
    }
    this.progress?.released();
    this.context.events.publish('released', () => this.holdEvent());
    if (returned !== true) this.#report(returned);
    return returned === true;
  }

  override recover(error: unknown): boolean {
    return this.read(unconfirmed(error));
  }

  /** It is due: for an extension, or the answer to its return. */
  override run(): void {
    if (this.isActive) this.context.keeper.wake(this);
    else super.run();
  }

  /** A key without a ttl would stay taken without a holder. */
  protected override outlived(): void {
    if (!this.context.store.supports.ttl) void this.#giveBack();
  }

  #release(): Promise<boolean> {
    const { minHold } = this.options;
    const rest = minHold > 0 ? minHold - this.heldFor : 0;
    const next =
      rest > 0 || isShared(this.permits) ? undefined : this.context.queue.next(this.keys);
    const handedOn = next && this.#handOff(next);
    if (handedOn) return handedOn;
    this.keepsFront = !this.context.store.acquire; // the next caller would ask before the key is free, and then pause
    if (rest < 1) return this.send(this.context.calls);
    const left = freeAfter(this, rest, (answer) => this.read(answer));
    this.end('released');
    return left;
  }

  /** Hands the lease off to the next caller of this process, if the store agrees. */
  #handOff(next: LocalTicket): Promise<boolean> | undefined {
    // The answer to an extension could shorten the ttl that the next holder counts on.
    if (this.madeChanges?.isBusy) return undefined;
    const { queue, clock } = this.context;
    const now = clock.now();
    const lease = tryHandOff(this.granted, next.ttl, !this.serves(next, now));
    if (!lease) return undefined;
    const isAsked = lease instanceof Promise;
    const sentAt = isAsked ? now : this.countedFrom;
    this.isAtFront = false;
    this.end('released');
    queue.handOff(this.keys[0]!, next, { lease, sentAt, heldFrom: now });
    if (isAsked) return handedOff(this, lease, (answer) => this.read(answer));
    return Promise.resolve(this.read(true));
  }

  /** It was lost before. Where its holder was asked to stop, the work has ended. */
  async #retired(): Promise<false> {
    if (this.isRetired) await this.#giveBack();
    return false;
  }

  /** Never rejects. */
  #giveBack(): Promise<void> {
    return free(this, (answer) => this.#report(answer));
  }

  #report(answer: Returned): void {
    if (!(answer instanceof Unconfirmed)) return;
    const { error } = answer;
    this.context.events.publish('releaseFailed', () => ({ ...this.holdEvent(), error }));
  }

  /** An extension that succeeds after the lease was given up keeps keys without a holder, possibly only some of several. */
  giveBackLate(isOurs: unknown): void {
    if (!this.lostError || this.isRetired) return;
    if (isOurs === true) void this.#giveBack();
    else if (isOurs === false && this.keys.length > 1) giveBack(this.granted);
  }
}
