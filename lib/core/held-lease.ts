import { type Clock, monotonicTime } from './clock.js';
import { type Grant, passedOn } from './grant.js';
import { LeaseLife } from './lease-life.js';
import { LeaseReturn } from './lease-return.js';
import type { Returned } from './lease-return.js';
import { LockStoreError } from './lock-errors.js';
import type { LockEvents } from './lock-events.js';
import { keyNames } from './lock-keys.js';
import type { ResolvedLockOptions } from './lock-options.js';
import type { Lease, LockStore } from './lock-store.js';
import { OneAtATime } from './one-at-a-time.js';
import { reasonOf } from './contract/safe-error.js';
import { checkBoolean } from './contract/store-answers.js';
import { checkDowngrade } from './store-upkeep.js';
import type { StoreCalls } from './store-call.js';
import type { Turn } from './turn.js';
import { Validity } from './validity.js';

/** What the leases of one service share. */
export interface LeaseSurroundings {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly calls: StoreCalls;
  readonly events: LockEvents;
  /** Told of every change that moves a lease's next deadline. */
  readonly keeper: { extended(lease: HeldLease): void; ended(lease: HeldLease): void };
}

/** A lease from its grant to its end, and what is asked of the store for it. */
export class HeldLease extends LeaseLife {
  readonly options: ResolvedLockOptions;
  readonly #lease: Lease;
  readonly #around: LeaseSurroundings;
  readonly #return: LeaseReturn;
  readonly #grantedAt: number; // by the monotonic clock: `minHold` must not end too early
  readonly #changes = new OneAtATime();
  readonly #turn: Turn;
  /** What comes next for the keys has been settled: nobody may go to the front when this lease ends. */
  #keepsFront = false;
  #isReader: boolean;
  #released: Promise<boolean> | undefined;

  constructor(
    { lease, sentAt, heldFrom }: Grant,
    turn: Turn,
    options: ResolvedLockOptions,
    around: LeaseSurroundings,
  ) {
    const { ttl, keys } = turn;
    const validity = new Validity(sentAt, ttl, options, around.store.supports.ttl, heldFrom);
    super(lease, keys, validity, around);
    this.options = options;
    this.#lease = lease;
    this.#around = around;
    this.#turn = turn;
    this.permits = turn.permits;
    this.#isReader = turn.permits === Infinity;
    if (turn.permits) turn.leave(); // who shares the keys makes room at their front at once
    this.#return = new LeaseReturn(lease, around, options.storeTimeout);
    this.#grantedAt = monotonicTime(around.clock);
  }

  /** Rejects with `LockLostError` when the lease is no longer ours, with `LockStoreError` when the store failed. */
  extend(ttl: number): Promise<void> {
    return this.#changes.run(() => this.#extend(ttl));
  }

  /** Lets readers in. Rejects with `LockUnsupportedError` where the store cannot, and as `extend` does. */
  downgrade(): Promise<void> {
    this.assertHeld();
    if (!this.#isReader) checkDowngrade(this.#around.store, this.#lease, this);
    this.permits = Infinity; // from the call on: the store may do it, and fail to say so
    return this.#changes.run(() => this.#downgrade());
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

  protected override ended(): void {
    this.#around.keeper.ended(this);
    if (!this.#keepsFront) this.#turn.leave();
  }

  /** A key without a ttl would be kept for nobody. */
  protected override outlived(): void {
    if (!this.#around.store.supports.ttl) void this.#handBack();
  }

  async #extend(ttl: number): Promise<void> {
    this.assertHeld();
    const sentAt = this.#around.clock.now();
    // A shorter ttl may take effect at any time from now on, whenever its reply comes and whether it comes or not.
    if (this.validity.isShortenedBy(sentAt, ttl)) this.#count(sentAt, ttl);
    await this.#confirm(() => this.#lease.extend(this.validity.capped(sentAt, ttl)));
    this.#count(sentAt, ttl);
    this.recover();
  }

  async #downgrade(): Promise<void> {
    this.assertHeld();
    if (this.#isReader) return;
    await this.#confirm(() => this.#lease.downgrade!());
    this.#isReader = true;
    this.#turn.leave();
  }

  /** Asks the store something whose answer says whether the lease is ours. */
  async #confirm(ask: () => Promise<boolean>): Promise<void> {
    const isOurs = await this.#around.calls.make<boolean, boolean>({
      ask,
      // One that hangs must leave time for another: the next one waits for it.
      within: Math.min(this.options.storeTimeout, this.validity.ttl / 3, this.remaining),
      check: checkBoolean,
      read: (answer) => answer,
      recover: (error) => this.#refuse(error),
      late: (answer) => this.#handBackLate(answer),
    });
    this.#handBackLate(isOurs);
    this.assertHeld();
    if (!isOurs) throw this.lose('gone');
  }

  #count(sentAt: number, ttl: number): void {
    this.validity.count(sentAt, ttl);
    this.#around.keeper.extended(this);
  }

  #refuse(error: unknown): never {
    this.assertHeld();
    const { name } = this.#around.store;
    throw new LockStoreError(keyNames(this.keys), name, reasonOf(error), { cause: error });
  }

  #release(): Promise<boolean> {
    if (!this.isHeld) return Promise.resolve(false);
    const { clock, store } = this.#around;
    const rest = this.options.minHold - (monotonicTime(clock) - this.#grantedAt);
    const passed = rest <= 0 ? this.#passOn() : undefined;
    if (passed) return passed;
    this.#keepsFront = !store.acquire; // the next one would ask before the key is free, and then pause
    const returned = this.#return.after(rest, (answer) => this.#returned(answer));
    this.end('released');
    return returned;
  }

  /** Gives the lease to the next caller of this process, if there is one and the store agrees. */
  #passOn(): Promise<boolean> | undefined {
    const { next } = this.#turn;
    // The answer to an extension could shorten the ttl that the next holder counts on.
    if (!next || this.permits || this.#changes.isBusy) return undefined;
    const now = this.#around.clock.now();
    const { validity } = this;
    const isFresh = validity.isWhole && validity.ttl === next.ttl && this.remaining >= next.ttl / 2;
    const lease = passedOn(this.#lease, next.ttl, !isFresh);
    if (!lease) return undefined;
    const isAsked = lease instanceof Promise;
    const sentAt = isAsked ? now : this.validity.countedFrom;
    this.#keepsFront = true;
    this.end('released');
    this.#turn.pass(next, { lease, sentAt, heldFrom: now });
    if (isAsked) return this.#return.passed(lease, (answer) => this.#returned(answer));
    return Promise.resolve(this.#returned({ isConfirmed: true, wasOurs: true }));
  }

  #returned(answer: Returned): boolean {
    this.#turn.leave();
    if (answer.isConfirmed && !answer.wasOurs) {
      this.lose('gone');
      return false;
    }
    this.#around.events.publish('released', () => this.event());
    this.#report(answer);
    return answer.isConfirmed;
  }

  /** Never rejects. */
  #handBack(): Promise<void> {
    return this.#return.now((answer) => this.#report(answer));
  }

  #report(answer: Returned): void {
    if (answer.isConfirmed) return;
    this.#around.events.publish('releaseFailed', () => ({ ...this.event(), error: answer.error }));
  }

  /** An extension that came through after the lease was given up keeps the key for nobody. */
  #handBackLate(isOurs: unknown): void {
    if (isOurs === true && this.lostError) void this.#handBack();
  }
}
