import { monotonicTime } from './clock.js';
import { type Grant, giveBack, passedOn } from './grant.js';
import { LeaseChanges } from './lease/lease-changes.js';
import type { LeaseSurroundings } from './lease/lease-surroundings.js';
import { LeaseLife } from './lease-life.js';
import { LeaseReturn, unlessLate } from './lease-return.js';
import type { Returned } from './lease-return.js';
import type { ResolvedLockOptions } from './lock-options.js';
import { checkDowngrade } from './store-upkeep.js';
import type { Turn } from './turn.js';
import { Validity } from './validity.js';

/** A lease from its grant to its end, and what is asked of the store for it. */
export class HeldLease extends LeaseLife {
  readonly #grantedAt: number; // by the monotonic clock: `minHold` must not end too early
  readonly #turn: Turn;
  /** What comes next for the keys has been settled: nobody may go to the front when this lease ends. */
  #keepsFront = false;
  /** The store says so. */
  isReader: boolean;
  #madeChanges: LeaseChanges | undefined;
  #released: Promise<boolean> | undefined;

  constructor(
    { lease, sentAt, heldFrom }: Grant,
    turn: Turn,
    options: ResolvedLockOptions,
    around: LeaseSurroundings,
  ) {
    const { ttl, keys } = turn;
    const validity = new Validity(sentAt, ttl, options, around.store.supports.ttl, heldFrom);
    super(lease, keys, validity, options, around);
    this.#turn = turn;
    this.permits = turn.permits;
    this.isReader = turn.permits === Infinity;
    if (turn.permits) turn.leave(); // who shares the keys makes room at their front at once
    this.#grantedAt = monotonicTime(around.clock);
  }

  /** Made when first needed: most locks are not held for so long. */
  get changes(): LeaseChanges {
    return (this.#madeChanges ??= new LeaseChanges(this));
  }

  get #isChanging(): boolean {
    return this.#madeChanges?.isBusy === true;
  }

  /** Rejects with `LockLostError` when the lease is no longer ours, with `LockStoreError` when the store failed. */
  extend(ttl: number): Promise<void> {
    return this.changes.extend(ttl);
  }

  /** Whether an extension for `ttl` at `now` may share a call with others: nothing else is asked for, and all have some time left. */
  mayShareExtension(ttl: number, now: number): boolean {
    const isOfStore = this.keys.length === 1 || this.around.store.supports.manyKeys; // else of core, over several of its leases
    return isOfStore === true && !this.#isChanging && this.validity.isRepeatedBy(now, ttl);
  }

  /** An extension for `ttl` that shared a call, sent at `sentAt`, was answered. Any `answer` but a boolean is the store's error. */
  extended(sentAt: number, ttl: number, answer: unknown): void {
    this.handBackLate(answer);
    if (!this.isHeld) return;
    if (answer === false) this.lose('gone');
    else if (answer !== true) this.jeopardise(this.failure(answer));
    else {
      this.count(sentAt, ttl);
      this.recover();
    }
  }

  /** Lets readers in. Rejects with `LockUnsupportedError` where the store cannot, and as `extend` does. */
  downgrade(): Promise<void> {
    this.assertHeld();
    if (!this.isReader) checkDowngrade(this.around.store, this.granted, this);
    this.permits = Infinity; // from the call on: the store may do it, and fail to say so
    return this.changes.downgrade();
  }

  /** The store has let readers in. */
  downgraded(): void {
    this.isReader = true;
    this.#turn.leave();
  }

  /** Never rejects. Resolves `false` when it was lost before, or when the store did not confirm: the ttl then frees the key. */
  release(): Promise<boolean> {
    this.#released ??= this.#release();
    return this.#released;
  }

  /** Takes the lease from its holder, who is told by the signal, and frees the key. Never rejects. */
  async withdraw(): Promise<void> {
    if (!this.isHeld) return;
    this.lose('closed');
    await this.#handBack();
  }

  override run(): void {
    this.around.keeper.wake(this);
  }

  protected override ended(): void {
    this.around.keeper.ended(this);
    if (!this.#keepsFront) this.#turn.leave();
  }

  /** A key without a ttl would be kept for nobody. */
  protected override outlived(): void {
    if (!this.around.store.supports.ttl) void this.#handBack();
  }

  /** The validity counts from a request for `ttl` that was sent at `sentAt`. */
  count(sentAt: number, ttl: number): void {
    this.validity.count(sentAt, ttl);
    this.around.keeper.extended(this);
  }

  #release(): Promise<boolean> {
    if (!this.isHeld) return Promise.resolve(false);
    const { clock, store } = this.around;
    const rest = this.options.minHold - (monotonicTime(clock) - this.#grantedAt);
    const passed = rest <= 0 ? this.#passOn() : undefined;
    if (passed) return passed;
    this.#keepsFront = !store.acquire; // the next one would ask before the key is free, and then pause
    const returned = new LeaseReturn(this).after(rest, (answer) => this.#returned(answer));
    this.end('released');
    return returned;
  }

  /** Gives the lease to the next caller of this process, if there is one and the store agrees. */
  #passOn(): Promise<boolean> | undefined {
    const { next } = this.#turn;
    // The answer to an extension could shorten the ttl that the next holder counts on.
    if (!next || this.permits || this.#isChanging) return undefined;
    const now = this.around.clock.now();
    const lease = passedOn(this.granted, next.ttl, !this.validity.serves(next, now));
    if (!lease) return undefined;
    const isAsked = lease instanceof Promise;
    const sentAt = isAsked ? now : this.validity.countedFrom;
    this.#keepsFront = true;
    this.end('released');
    this.#turn.pass(next, { lease, sentAt, heldFrom: now });
    if (isAsked) return new LeaseReturn(this).passed(lease, (answer) => this.#returned(answer));
    return Promise.resolve(this.#returned({ isConfirmed: true, wasOurs: true }));
  }

  #returned(returned: Returned): boolean {
    this.#turn.leave();
    const answer = unlessLate(returned, this.remaining);
    if (answer.isConfirmed && !answer.wasOurs) {
      this.lose('gone');
      return false;
    }
    this.around.events.publish('released', () => this.event());
    this.#report(answer);
    return answer.isConfirmed;
  }

  /** Never rejects. */
  #handBack(): Promise<void> {
    return new LeaseReturn(this).now((answer) => this.#report(answer));
  }

  #report(answer: Returned): void {
    if (answer.isConfirmed) return;
    this.around.events.publish('releaseFailed', () => ({ ...this.event(), error: answer.error }));
  }

  /** An extension that came through after the lease was given up keeps keys for nobody, if only the rest of several. */
  handBackLate(isOurs: unknown): void {
    if (!this.lostError) return;
    if (isOurs === true) void this.#handBack();
    else if (isOurs === false && this.keys.length > 1) giveBack(this.granted);
  }
}
