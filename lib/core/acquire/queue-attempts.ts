import type { StoreAttempts } from './store-attempts.js';
import type { Clock } from '../async/clock.js';
import { checkBoolean } from '../contract/store-answers.js';
import { checkClaim, giveBack } from '../store/grant.js';
import type { Grant } from '../store/grant.js';
import type { AcquireRequest, Lease, LockStore } from '../contract/lock-store.js';

/** Waits in the store's queue, which hands off a claim; one `extend` turns it into a whole ttl, unless it is whole already. */
export class QueueAttempts {
  readonly #store: LockStore;
  readonly #clock: Clock;
  readonly #attempts: StoreAttempts;

  constructor(store: LockStore, clock: Clock, attempts: StoreAttempts) {
    this.#store = store;
    this.#clock = clock;
    this.#attempts = attempts;
  }

  all(signal: AbortSignal): Promise<Grant | undefined> {
    return this.#wait(this.#attempts.request, signal);
  }

  /** With a new token: an attempt at the other keys then has the same one. */
  one(key: string, signal: AbortSignal): Promise<Grant | undefined> {
    this.#attempts.startAnew();
    return this.#wait({ ...this.#attempts.request, key, keys: [key] }, signal);
  }

  async #wait(request: AcquireRequest, signal: AbortSignal): Promise<Grant | undefined> {
    this.#attempts.count++;
    const claim = await this.#attempts.ask(
      () => this.#store.acquire!(request, signal),
      checkClaim,
      (lease) => lease,
      giveBack,
      Infinity, // it waits, so only the deadline ends it
    );
    this.#attempts.answered();
    return this.#confirmed(claim, request.ttl);
  }

  async #confirmed(lease: Lease, ttl: number): Promise<Grant | undefined> {
    const now = this.#clock.now();
    const { claim } = lease;
    if (claim?.ttl === ttl) return this.#attempts.inTime({ lease, sentAt: now - claim.age });
    const grant = { lease, sentAt: now };
    if (!this.#store.supports.ttl) return this.#attempts.inTime(grant);
    try {
      return await this.#attempts.ask(
        () => lease.extend(ttl),
        checkBoolean,
        (isOurs) => (isOurs ? this.#attempts.inTime(grant) : undefined),
        () => giveBack(lease),
      );
    } catch (error) {
      giveBack(lease); // it may have been extended all the same
      throw error;
    }
  }
}
