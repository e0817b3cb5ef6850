import { PendingAcquisitions } from './acquire/pending-acquisitions.js';
import type { PendingAcquisitionsContext } from './acquire/acquisition-context.js';
import { canonicalKeys } from './keys/lock-keys.js';
import type { LockKeys } from './keys/lock-keys.js';
import { checkLockOptions, checkPermits } from './options/lock-options.js';
import type { LockOptions, PermitOptions, ResolvedLockOptions } from './options/lock-options.js';
import { OptionLayers } from './options/option-layers.js';
import { checkIsObject, checkWork } from './options/option-values.js';
import { LockContext } from './scope/lock-context.js';
import type { LockScope } from './scope/lock-scope.js';
import type { LockStore } from './contract/lock-store.js';
import type { Lock } from './scope/lock.js';
import { optionsAndWork } from './scope/lock-work.js';
import type { LockAttempt, LockWork, WorkArguments } from './scope/lock-work.js';
import { ContextLocks, sharedLock, toLock } from './scope/context-locks.js';
import { SelfDeadlocks } from './scope/self-deadlock.js';
import { checkServiceOptions } from './options/service-options.js';
import type { LockServiceOptions } from './options/service-options.js';
import type { StoreUse } from './store/store-use.js';
import { promiseTry } from './store/store-call.js';
import { checkStore, leaveStore, useStore } from './store/store-checks.js';
import { LockOperations } from './lock-operations.js';
import { serviceContext } from './service-context.js';

export type { LockServiceOptions };

/**
 * Takes, holds and gives back locks. Works without Nest: `new LockService(store, { ttl: 10_000 })`.
 *
 * Wherever a key is expected, a list of keys locks all of them or none.
 */
export class LockService extends LockOperations {
  readonly #options: OptionLayers;
  readonly #context: PendingAcquisitionsContext;
  readonly #lockContext: LockContext;
  readonly #locks: ContextLocks;
  readonly #acquisitions: PendingAcquisitions;
  readonly #use: StoreUse;
  #closed: Promise<void> | undefined;

  /** Throws `TypeError` or `RangeError` naming the option. */
  constructor(store: LockStore, options: LockServiceOptions = {}) {
    checkStore(store);
    const { clock, maxWaitingTotal, aroundWork, defaults } = checkServiceOptions(options);
    const layers = new OptionLayers(defaults);
    const context = serviceContext(store, clock, maxWaitingTotal);
    const acquisitions = new PendingAcquisitions(context);
    super(context, acquisitions, layers.defaults.storeTimeout);
    this.#context = context;
    this.#acquisitions = acquisitions;
    this.#options = layers;
    this.#lockContext = new LockContext(this.events, aroundWork);
    const deadlocks = new SelfDeadlocks(context.timers);
    this.#locks = new ContextLocks(this.#lockContext, acquisitions, deadlocks);
    this.#use = useStore(context);
  }

  /**
   * Waits for the lock, at most `waitTimeout`. Release it in a `finally`, or take it with `await using`.
   *
   * Rejects with `LockTimeoutError` (held by another caller), `LockQueueFullError` (too many wait for it), `LockStoreError`
   * (the store failed), `LockKeyError` (the key is unusable), `LockDeadlockError` (the calling context holds it) or the reason
   * of `options.signal`. With `reentrant: true`, the lock may be a share of one that the calling context holds.
   */
  acquire(key: LockKeys, options?: LockOptions): Promise<Lock> {
    try {
      const keys = canonicalKeys(key);
      return this.#locks.acquire(keys, this.#options.with(options), toLock, sharedLock);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * One attempt. Resolves `undefined` when the key is held, also by the calling context, unless `reentrant: true` lets it share
   * the lock.
   */
  async tryAcquire(key: LockKeys, options?: LockOptions): Promise<Lock | undefined> {
    return this.#locks.tryAcquire(canonicalKeys(key), this.#once(options));
  }

  /**
   * Runs `work` under the lock and releases it however `work` ends. An error of the work comes through as the same object.
   * With `reentrant: true`, shares a lock that the calling context holds. Rejects as `acquire` does, and with `LockLostError`,
   * which carries the work's result, when the lock was lost on the way.
   */
  withLock<T>(key: LockKeys, work: LockWork<T>): Promise<T>;
  withLock<T>(key: LockKeys, options: LockOptions, work: LockWork<T>): Promise<T>;
  withLock<T>(key: LockKeys, ...rest: WorkArguments<T>): Promise<T> {
    return promiseTry(() => {
      const [options, work] = optionsAndWork('withLock', rest);
      return this.#scoped(key, options, (scope) => scope.hold(work));
    });
  }

  /**
   * Runs `work` as `withLock` does if one attempt gets the lock, and resolves with `{ acquired: true, result }`; otherwise with
   * `{ acquired: false }`. A `LockTimeoutError` that it rejects with comes from `work`.
   */
  tryWithLock<T>(key: LockKeys, work: LockWork<T>): Promise<LockAttempt<T>>;
  tryWithLock<T>(key: LockKeys, options: LockOptions, work: LockWork<T>): Promise<LockAttempt<T>>;
  async tryWithLock<T>(key: LockKeys, ...rest: WorkArguments<T>): Promise<LockAttempt<T>> {
    const [options, work] = optionsAndWork('tryWithLock', rest);
    const attempt = await this.#locks.tryEnter(
      canonicalKeys(key),
      this.#once(options),
      async (scope) => ({ acquired: true, result: await scope.hold(work) }) as const,
    );
    return attempt ?? { acquired: false };
  }

  /**
   * Runs `work` while it holds one of the `permits` of a semaphore, as `withLock` does under a lock. Every caller of a key must
   * give the same number: another one rejects with `LockPermitsError`. Rejects with `LockUnsupportedError` where the store
   * cannot count.
   */
  withPermit<T>(key: LockKeys, options: PermitOptions, work: LockWork<T>): Promise<T> {
    return promiseTry(() => {
      checkIsObject('the options of withPermit', options, '{ permits: 5 }');
      checkPermits(options);
      checkWork('withPermit', work);
      return this.#scoped(key, options, (scope) => scope.hold(work));
    });
  }

  /**
   * Takes the lock, or shares it with `reentrant: true`, for work that is not one promise. The caller must call `scope.leave()`.
   */
  enter(key: LockKeys, options?: LockOptions): Promise<LockScope> {
    return promiseTry(() => this.#scoped(key, options, (scope) => scope));
  }

  /**
   * As `enter`, for the handler of a request: a client can read as slowly as it likes, so the default of `maxHold` is 300,000,
   * five minutes. `options` and the defaults of the service can set another.
   */
  enterRequest(key: LockKeys, options?: LockOptions): Promise<LockScope> {
    return promiseTry(() =>
      this.#locks.enter(canonicalKeys(key), this.#options.forRequest(options), (scope) => scope),
    );
  }

  /** The lock that the running async context holds: the innermost one, or that of `key`. */
  current(key?: string): Lock | undefined {
    return this.#lockContext.current(key);
  }

  /**
   * Calls `work` in an async context that holds no lock of this service, and gives its result: for what is started under a lock
   * and is not part of its work, such as the worker of a shared queue.
   */
  outside<T>(work: () => T): T {
    checkWork('outside', work);
    return this.#lockContext.outside(work);
  }

  /** The first half of an orderly shutdown: ends all waits. Held locks stay held, and a free key can still be taken, at once. */
  endWaits(): void {
    this.#acquisitions.endWaits();
  }

  /**
   * Ends all waits, takes every lock back from its holder (whose `signal` aborts), frees the keys, and closes the store, unless
   * another `LockService` uses it.
   * Never rejects. Nothing can be acquired afterwards.
   */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#acquisitions.close();
    this.#lockContext.close();
    await leaveStore(this.#context, this.#use, this.#options.defaults.storeTimeout);
  }

  #once(options: LockOptions | undefined): ResolvedLockOptions {
    checkLockOptions(options);
    return Object.freeze({ ...this.#options.with(options), waitTimeout: 0 });
  }

  #scoped<T>(
    key: LockKeys,
    options: LockOptions | undefined,
    use: (scope: LockScope) => T | Promise<T>,
  ): Promise<T> {
    return this.#locks.enter(canonicalKeys(key), this.#options.with(options), use);
  }
}
