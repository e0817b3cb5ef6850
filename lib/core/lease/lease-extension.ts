import { checkBoolean } from '../contract/store-answers.js';
import type { LockLostError, LockLostReason, LockStoreError } from '../contract/lock-errors.js';
import type { Lease } from '../contract/lock-store.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import type { LeaseContext } from './lease-context.js';

/** A lease that an answer changes. */
interface ChangingLease {
  readonly granted: Lease;
  readonly context: LeaseContext;
  readonly options: ResolvedLockOptions;
  readonly isReader: boolean;
  readonly ttl: number;
  readonly countedFrom: number;
  readonly remaining: number;
  readonly nextTtl: number;
  untilFor(sentAt: number, ttl: number): number;
  isShortenedBy(sentAt: number, ttl: number): boolean;
  capped(sentAt: number, ttl: number): number;
  assertHeld(): void;
  recovered(): void;
  lose(reason: LockLostReason): LockLostError;
  failure(error: unknown): LockStoreError;
  count(sentAt: number, ttl: number): void;
  downgraded(): void;
  extended(sentAt: number, ttl: number, answer: unknown): void;
  giveBackLate(isOurs: unknown): void;
}

/** Changes a held lease in the store, one change after the other: the replies of two could arrive in either order. */
export class LeaseExtensions {
  readonly #lease: ChangingLease;
  /** Settles with the last change that is requested or in progress. Never rejects. */
  #last: Promise<void> | undefined;
  /** The end of the validity that the latest extension asks for. */
  #sentEnd = -Infinity;
  /** Of the latest extension that asks for an earlier end than the one before it. */
  #shortenedAt = -Infinity;

  constructor(lease: ChangingLease) {
    this.#lease = lease;
  }

  get isBusy(): boolean {
    return this.#last !== undefined;
  }

  /** A change of several leases at once is in progress until `end`. For use while no other change is. */
  begin(change: Promise<void>): void {
    this.#last = change;
  }

  end(change: Promise<void>): void {
    if (this.#last === change) this.#last = undefined;
  }

  /** An extension for `ttl` is sent at `sentAt`. */
  sent(sentAt: number, ttl: number): void {
    const end = this.#lease.untilFor(sentAt, ttl);
    if (end < this.#sentEnd) this.#shortenedAt = sentAt;
    this.#sentEnd = end;
  }

  /**
   * An answer that came after its call had failed. It counts, unless a later extension may have moved the end back: the store
   * may have made the two in either order.
   */
  answeredLate(sentAt: number, ttl: number, answer: unknown): void {
    const counts = sentAt >= this.#lease.countedFrom && sentAt >= this.#shortenedAt;
    if (counts && typeof answer === 'boolean') this.#lease.extended(sentAt, ttl, answer);
    else this.#lease.giveBackLate(answer === true);
  }

  /** Without `ttl`, for the one that the lease has when the changes before it are over. */
  extend(ttl?: number): Promise<void> {
    return this.#run(() => this.#extend(ttl ?? this.#lease.nextTtl));
  }

  downgrade(): Promise<void> {
    return this.#run(() => this.#downgrade());
  }

  /** Settles as `change` does. */
  #run(change: () => Promise<void>): Promise<void> {
    const changed = this.#last ? this.#last.then(change) : change();
    const over = () => this.end(settled);
    const settled: Promise<void> = changed.then(over, over);
    this.#last = settled;
    return changed;
  }

  async #extend(ttl: number): Promise<void> {
    const { granted, context } = this.#lease;
    this.#lease.assertHeld();
    const sentAt = context.clock.now();
    // A shorter ttl may take effect at any time from now on, whether and whenever its reply comes.
    if (this.#lease.isShortenedBy(sentAt, ttl)) this.#lease.count(sentAt, ttl);
    this.sent(sentAt, ttl);
    const late = (answer: unknown) => this.answeredLate(sentAt, ttl, answer);
    await this.#confirm(() => granted.extend(this.#lease.capped(sentAt, ttl)), late);
    this.#lease.count(sentAt, ttl);
    this.#lease.recovered();
  }

  async #downgrade(): Promise<void> {
    this.#lease.assertHeld();
    if (this.#lease.isReader) return;
    const late = (answer: unknown) => this.#lease.giveBackLate(answer);
    await this.#confirm(() => this.#lease.granted.downgrade!(), late);
    this.#lease.downgraded();
  }

  /** Sends a request whose answer tells whether the lease is ours. */
  async #confirm(ask: () => Promise<boolean>, late: (answer: unknown) => void): Promise<void> {
    const lease = this.#lease;
    const isOurs = await lease.context.calls.make<boolean, boolean>({
      ask,
      // A request that hangs must leave time for the next one, which waits for it.
      within: Math.min(lease.options.storeTimeout, lease.ttl / 3, lease.remaining),
      check: checkBoolean,
      read: (answer) => answer,
      recover: (error) => {
        lease.assertHeld();
        throw lease.failure(error);
      },
      late,
    });
    lease.giveBackLate(isOurs);
    lease.assertHeld();
    if (!isOurs) throw lease.lose('gone');
  }
}
