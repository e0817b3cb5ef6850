import type { Lease } from '../../../core/contract/lock-store.js';
import type { NamedLock } from '../keys/named-lock.js';
import { abandonShared, releaseShared } from './shared-release.js';
import type { LeaseContext } from './lease-context.js';

/** A sharer's lease of some locks. */
export class SharedRedisLease implements Lease {
  readonly #held: NamedLock;
  readonly #context: LeaseContext;
  #isClaim = false;
  #isReleased = false;

  constructor(held: NamedLock, context: LeaseContext) {
    this.#held = held;
    this.#context = context;
  }

  /** A waiter's claim after a hand-off: valid for a moment, until `extend` makes a lease of it. */
  static claimed(held: NamedLock, context: LeaseContext): SharedRedisLease {
    const claim = new SharedRedisLease(held, context);
    claim.#isClaim = true;
    return claim;
  }

  extend(ttl: number): Promise<boolean> {
    this.#context.watches.clocks?.holds(ttl);
    if (this.#isClaim) return this.#confirm(ttl);
    return this.#context.sharedExtensions.extend(this.#held, ttl);
  }

  release(isValid?: () => boolean): Promise<boolean> {
    if (this.#isReleased) return Promise.resolve(false);
    this.#isReleased = true;
    const { runner, takeBacks, sentAgain } = this.#context;
    const released = releaseShared(runner, this.#held).catch((error: unknown) => {
      abandonShared(takeBacks, runner, this.#held);
      throw error;
    });
    return sentAgain.decided(released, isValid);
  }

  /** Waiters behind may fit beside it. */
  async #confirm(ttl: number): Promise<boolean> {
    const isOurs = await this.#context.sharedConfirmations.extend(this.#held, ttl);
    if (isOurs) this.#isClaim = false;
    return isOurs;
  }
}
