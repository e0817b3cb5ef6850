import { checkBoolean } from '../contract/store-answers.js';
import type { LeaseLife } from '../lease-life.js';

/** What becomes of a lease with an answer. */
interface ChangingLease extends LeaseLife {
  readonly isReader: boolean;
  count(sentAt: number, ttl: number): void;
  downgraded(): void;
  handBackLate(isOurs: unknown): void;
}

/** Changes a held lease in the store, one change after the other: the replies of two could arrive in either order. */
export class LeaseChanges {
  readonly #lease: ChangingLease;
  /** Settles with the last that is asked for or under way. Never rejects. */
  #last: Promise<void> | undefined;

  constructor(lease: ChangingLease) {
    this.#lease = lease;
  }

  get isBusy(): boolean {
    return this.#last !== undefined;
  }

  /** A change of several leases at once is under way until `end`. For use while nothing else is. */
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
    const { granted, validity, around } = this.#lease;
    this.#lease.assertHeld();
    const sentAt = around.clock.now();
    // A shorter ttl may take effect at any time from now on, whenever its reply comes and whether it comes or not.
    if (validity.isShortenedBy(sentAt, ttl)) this.#lease.count(sentAt, ttl);
    await this.#confirm(() => granted.extend(validity.capped(sentAt, ttl)));
    this.#lease.count(sentAt, ttl);
    this.#lease.recover();
  }

  async #downgrade(): Promise<void> {
    this.#lease.assertHeld();
    if (this.#lease.isReader) return;
    await this.#confirm(() => this.#lease.granted.downgrade!());
    this.#lease.downgraded();
  }

  /** Asks the store something whose answer says whether the lease is ours. */
  async #confirm(ask: () => Promise<boolean>): Promise<void> {
    const lease = this.#lease;
    const isOurs = await lease.around.calls.make<boolean, boolean>({
      ask,
      // One that hangs must leave time for another: the next one waits for it.
      within: Math.min(lease.options.storeTimeout, lease.validity.ttl / 3, lease.remaining),
      check: checkBoolean,
      read: (answer) => answer,
      recover: (error) => {
        lease.assertHeld();
        throw lease.failure(error);
      },
      late: (answer) => lease.handBackLate(answer),
    });
    lease.handBackLate(isOurs);
    lease.assertHeld();
    if (!isOurs) throw lease.lose('gone');
  }
}
