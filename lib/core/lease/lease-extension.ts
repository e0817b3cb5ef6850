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
  readonly remaining: number;
  isShortenedBy(sentAt: number, ttl: number): boolean;
  capped(sentAt: number, ttl: number): number;
  assertHeld(): void;
  recover(): void;
  lose(reason: LockLostReason): LockLostError;
  failure(error: unknown): LockStoreError;
  count(sentAt: number, ttl: number): void;
  downgraded(): void;
  giveBackLate(isOurs: unknown): void;
}

/** Changes a held lease in the store, one change after the other: the replies of two could arrive in either order. */
export class LeaseExtensions {
  readonly #lease: ChangingLease;
  /** Settles with the last change that is requested or in progress. Never rejects. */
  #last: Promise<void> | undefined;

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

  extend(ttl: number): Promise<void> {
    return this.#run(() => this.#extend(ttl));
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
    await this.#confirm(() => granted.extend(this.#lease.capped(sentAt, ttl)));
    this.#lease.count(sentAt, ttl);
    this.#lease.recover();
  }

  async #downgrade(): Promise<void> {
    this.#lease.assertHeld();
    if (this.#lease.isReader) return;
    await this.#confirm(() => this.#lease.granted.downgrade!());
    this.#lease.downgraded();
  }

  /** Sends a request whose answer tells whether the lease is ours. */
  async #confirm(ask: () => Promise<boolean>): Promise<void> {
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
      late: (answer) => lease.giveBackLate(answer),
    });
    lease.giveBackLate(isOurs);
    lease.assertHeld();
    if (!isOurs) throw lease.lose('gone');
  }
}
