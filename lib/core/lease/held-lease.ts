import { giveBack, tryHandOff } from '../store/grant.js';
import { LeaseExtensions } from './lease-extension.js';
import { LeaseState } from './lease-state.js';
import { Unconfirmed, free, freeAfter, handedOff, retire, unlessLate } from './lease-return.js';
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

  get #isChanging(): boolean {
    return this.madeChanges?.isBusy === true;
  }

  /** Rejects with `LockLostError` when the lease is no longer ours, with `LockStoreError` when the store failed. */
  extend(ttl: number): Promise<void> {
    return this.changes.extend(ttl);
  }

  /**
   * Whether an extension for `ttl` at `now` may share a call with others: no other change is pending, and the lease has time
   * left.
   */
  mayBeBundled(ttl: number, now: number): boolean {
    const isOfStore = this.keys.length === 1 || this.context.store.supports.manyKeys; // otherwise core combined several leases
    return isOfStore === true && !this.#isChanging && this.isRepeatedBy(now, ttl);
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
      this.recover();
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
    this.released ??= this.#release();
    return this.released;
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

  override run(): void {
    this.context.keeper.wake(this);
  }

  /** A key without a ttl would stay taken without a holder. */
  protected override outlived(): void {
    if (!this.context.store.supports.ttl) void this.#giveBack();
  }

  #release(): Promise<boolean> {
    if (!this.isHeld) return this.isRetired ? this.#retired() : Promise.resolve(false);
    const { minHold } = this.options;
    const rest = minHold > 0 ? minHold - this.heldFor : 0;
    const next =
      rest > 0 || isShared(this.permits) ? undefined : this.context.queue.next(this.keys);
    const handedOn = next && this.#handOff(next);
    if (handedOn) return handedOn;
    this.keepsFront = !this.context.store.acquire; // the next caller would ask before the key is free, and then pause
    const then = (answer: Returned) => this.#returned(answer);
    const isValid = () => this.remaining > 0;
    const returned = rest < 1 ? free(this, then, isValid) : freeAfter(this, rest, then);
    this.end('released');
    return returned;
  }

  /** Hands the lease off to the next caller of this process, if the store agrees. */
  #handOff(next: LocalTicket): Promise<boolean> | undefined {
    // The answer to an extension could shorten the ttl that the next holder counts on.
    if (this.#isChanging) return undefined;
    const { queue, clock } = this.context;
    const now = clock.now();
    const lease = tryHandOff(this.granted, next.ttl, !this.serves(next, now));
    if (!lease) return undefined;
    const isAsked = lease instanceof Promise;
    const sentAt = isAsked ? now : this.countedFrom;
    this.isAtFront = false;
    this.end('released');
    queue.handOff(this.keys[0]!, next, { lease, sentAt, heldFrom: now });
    if (isAsked) return handedOff(this, lease, (answer) => this.#returned(answer));
    return Promise.resolve(this.#returned(true));
  }

  #returned(returned: Returned): boolean {
    this.leaveFront();
    const answer = returned === true || unlessLate(returned, this.remaining);
    if (answer === false) {
      this.lose('gone');
      return false;
    }
    this.progress?.released();
    this.context.events.publish('released', () => this.holdEvent());
    if (answer !== true) this.#report(answer);
    return answer === true;
  }

  /** The work that was asked to stop has ended. */
  async #retired(): Promise<false> {
    await this.#giveBack();
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
