import type { Lease } from '../../core/lock-store.js';
import type { Held } from './held.js';
import { abandonShared, releaseShared } from './shared-release.js';
import type { LeaseSurroundings } from './lease-surroundings.js';

/** One of those who share some locks. */
export class SharedRedisLease implements Lease {
  readonly #held: Held;
  readonly #around: LeaseSurroundings;
  #isClaim = false;
  #isReleased = false;

  constructor(held: Held, around: LeaseSurroundings) {
    this.#held = held;
    this.#around = around;
  }

  /** What was handed over to a waiter: good for a moment, until `extend` makes a lease of it. */
  static claimed(held: Held, around: LeaseSurroundings): SharedRedisLease {
    const claim = new SharedRedisLease(held, around);
    claim.#isClaim = true;
    return claim;
  }

  extend(ttl: number): Promise<boolean> {
    this.#around.holds(ttl);
    if (this.#isClaim) return this.#confirm(ttl);
    return this.#around.sharedExtensions.extend(this.#held, ttl);
  }

  release(isValid?: () => boolean): Promise<boolean> {
    if (this.#isReleased) return Promise.resolve(false);
    this.#isReleased = true;
    const { runner, takeBacks, sentAgain } = this.#around;
    const released = releaseShared(runner, this.#held).catch((error: unknown) => {
      abandonShared(takeBacks, runner, this.#held);
      throw error;
    });
    return sentAgain.decided(released, isValid);
  }

  /** Those behind may fit beside it. */
  async #confirm(ttl: number): Promise<boolean> {
    const isOurs = await this.#around.sharedConfirmations.extend(this.#held, ttl);
    if (isOurs) this.#isClaim = false;
    return isOurs;
  }
}
