import { withCaller } from '../async/caller-stack.js';
import type { PendingAcquisitions } from '../acquire/pending-acquisitions.js';
import type { HeldLease } from '../lease/held-lease.js';
import type { LockContext } from './lock-context.js';
import type { LockScope } from './lock-scope.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import { Lock } from './lock.js';
import type { SelfDeadlocks } from './self-deadlock.js';

/** A call in the context of a lock of other keys. */
const NESTED = {};

/** Locks for async contexts: new ones, or shares of a lock that the context holds where `reentrant` asks for them. */
export class ContextLocks {
  readonly #context: LockContext;
  readonly #acquisitions: PendingAcquisitions;
  readonly #selfDeadlocks: SelfDeadlocks;

  constructor(
    context: LockContext,
    acquisitions: PendingAcquisitions,
    selfDeadlocks: SelfDeadlocks,
  ) {
    this.#context = context;
    this.#acquisitions = acquisitions;
    this.#selfDeadlocks = selfDeadlocks;
  }

  /** One attempt. Resolves `undefined` when the key is held and cannot be shared. */
  tryAcquire(keys: readonly string[], options: ResolvedLockOptions): Promise<Lock | undefined> {
    return this.#once(keys, options, sharedLock, toLock);
  }

  /** Calls `use` in the turn in which the lock was granted. */
  enter<T>(
    keys: readonly string[],
    options: ResolvedLockOptions,
    use: (scope: LockScope) => T | Promise<T>,
  ): Promise<T> {
    return this.acquire(keys, options, (held) => use(this.#context.open(held)), use);
  }

  /** As `enter`, by one attempt. Resolves `undefined`, without a call of `use`, when the key is held and cannot be shared. */
  tryEnter<T>(
    keys: readonly string[],
    options: ResolvedLockOptions,
    use: (scope: LockScope) => Promise<T>,
  ): Promise<T | undefined> {
    return this.#once(keys, options, use, (held) => use(this.#context.open(held)));
  }

  /** `ofShare` and `ofGrant` give the result; only a scope that is opened has spans of its work. */
  async #once<T>(
    keys: readonly string[],
    options: ResolvedLockOptions,
    ofShare: (scope: LockScope) => T | Promise<T>,
    ofGrant: (held: HeldLease) => T | Promise<T>,
  ): Promise<T | undefined> {
    const shared = options.reentrant && this.#context.reenter(keys, options);
    if (shared) return ofShare(shared);
    const nesting = this.#context.isInside ? NESTED : undefined;
    return this.#acquisitions.acquire(keys, options, { use: ofGrant, isOnce: true, nesting });
  }

  /** For `reentrant`. */
  #shared(keys: readonly string[], options: ResolvedLockOptions): LockScope | undefined {
    const scope = this.#context.reenter(keys, options);
    const refusal = scope ? undefined : this.#context.refusalOf(keys, options.permits);
    if (refusal) throw this.#acquisitions.refused(keys, options, refusal);
    return scope;
  }

  /**
   * Calls `use` in the turn in which the lock was granted, or `share` with a lock of the context. Async, so that the engine knows the
   * caller of a lock that is not granted.
   */
  async acquire<T>(
    keys: readonly string[],
    options: ResolvedLockOptions,
    use: (held: HeldLease) => T | Promise<T>,
    share: (scope: LockScope) => T | Promise<T>,
  ): Promise<T> {
    const shared = options.reentrant ? this.#shared(keys, options) : undefined;
    if (shared) return share(shared);
    try {
      return await (this.#context.storage.getStore() === undefined
        ? this.#acquisitions.acquire(keys, options, { use })
        : this.#nested(keys, options, use));
    } catch (error) {
      throw withCaller(error);
    }
  }

  #nested<T>(
    keys: readonly string[],
    options: ResolvedLockOptions,
    use: (held: HeldLease) => T | Promise<T>,
  ): Promise<T> {
    if (!this.#context.isInside) return this.#acquisitions.acquire(keys, options, { use });
    const own = this.#context.holderOf(keys);
    if (!own) return this.#acquisitions.acquire(keys, options, { use, nesting: NESTED });
    return this.#selfDeadlocks.bound({ keys, options, own }, (bounded, granted, explain) => {
      const begin = (held: HeldLease) => {
        granted();
        return use(held);
      };
      return this.#acquisitions.acquire(keys, bounded, { use: begin, nesting: { explain } });
    });
  }
}

/** For `acquire`. */
export function toLock(held: HeldLease): Lock {
  return new Lock(held);
}

/** For `acquire`. */
export function sharedLock({ lock }: LockScope): Lock {
  return lock;
}
