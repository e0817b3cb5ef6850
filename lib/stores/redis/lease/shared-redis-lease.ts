import type { Lease } from '../../../core/contract/lock-store.js';
import type { NamedLock } from '../keys/named-lock.js';
import { isOne } from '../lua/replies.js';
import { RELEASE_SHARED } from '../lua/sharing-scripts.js';
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
    const released = releaseShared(this.#context, this.#held).catch((error: unknown) => {
      abandonShared(this.#context, this.#held);
      throw error;
    });
    return this.#context.sentAgain.decided(released, isValid);
  }

  /** Waiters behind may fit beside it. */
  async #confirm(ttl: number): Promise<boolean> {
    const isOurs = await this.#context.sharedConfirmations.extend(this.#held, ttl);
    if (isOurs) this.#isClaim = false;
    return isOurs;
  }
}

/** After a request that failed; it may have been applied all the same. */
export function abandonShared(context: LeaseContext, held: NamedLock): void {
  context.takeBacks.add(held, () => releaseShared(context, held));
}

/** Of one sharer. Resolves `false` when a key had been lost. */
function releaseShared({ runner }: LeaseContext, { keys, value }: NamedLock): Promise<boolean> {
  return runner.run(RELEASE_SHARED, keys, [value], isOne);
}
