import { PendingAcquisitions } from './acquire/pending-acquisitions.js';
import type { PendingAcquisitionsContext } from './acquire/pending-acquisitions.js';
import { LeaseKeeper } from './lease/lease-keeper.js';
import { LockEvents } from './events/lock-events.js';
import { heldLocks } from './inspection/held-locks.js';
import type { HeldLock } from './inspection/held-locks.js';
import { HolderLookup } from './inspection/holder-lookup.js';
import { inspectKey } from './inspection/inspect-key.js';
import { listLocks } from './inspection/list-locks.js';
import type { LockListOptions } from './inspection/list-locks.js';
import { waitingCalls } from './inspection/waiting-calls.js';
import type { WaitingCall } from './inspection/waiting-calls.js';
import { LocalQueue } from './line/local-queue.js';
import { canonicalKeys } from './keys/lock-keys.js';
import type { LockKeys } from './keys/lock-keys.js';
import { checkLockOptions, checkPermits } from './options/lock-options.js';
import type { LockOptions, PermitOptions } from './options/lock-options.js';
import { OptionLayers } from './options/option-layers.js';
import { checkIsObject, checkWork } from './options/option-values.js';
import { LockContext } from './scope/lock-context.js';
import type { LockScope } from './scope/lock-scope.js';
import type { LockInspection, LockNode, LockPage, LockStore } from './contract/lock-store.js';
import type { Lock } from './scope/lock.js';
import { ContextLocks } from './scope/context-locks.js';
import { SelfDeadlocks } from './scope/self-deadlock.js';
import { checkServiceOptions } from './options/service-options.js';
import type { LockServiceOptions } from './options/service-options.js';
import type { StoreUse } from './store/store-use.js';
import { promised, StoreCalls } from './store/store-call.js';
import { checkStore, leaveStore, needsLine, useStore } from './store/store-checks.js';
import { healthOf } from './health/health.js';
import type { LockHealth, LockHealthOptions } from './health/health.js';
import { StorePulse } from './store/store-pulse.js';
import { TimerQueue } from './async/timer-queue.js';
import type { LocalTicket } from './line/local-ticket.js';
import { Waiters } from './line/waiters.js';

export type { LockServiceOptions };

/**
 * Takes, holds and gives back locks. Works without Nest: `new LockService(store, { ttl: 10_000 })`.
 *
 * Wherever a key is expected, a list of keys locks all of them or none.
 */
export class LockService {
  /** What happens to the locks of this service. */
  readonly events = new LockEvents();
  readonly #options: OptionLayers;
  readonly #around: PendingAcquisitionsContext;
  readonly #context: LockContext;
  readonly #locks: ContextLocks;
  readonly #acquisitions: PendingAcquisitions;
  readonly #use: StoreUse;
  #closed: Promise<void> | undefined;

  /** Throws `TypeError` or `RangeError` naming the option. */
  constructor(store: LockStore, options: LockServiceOptions = {}) {
    checkStore(store);
    const { clock, maxWaitingTotal, aroundWork, defaults } = checkServiceOptions(options);
    this.#context = new LockContext(this.events, aroundWork);
    const timers = new TimerQueue(clock);
    const calls = new StoreCalls(clock, timers);
    const keeper = new LeaseKeeper(store, clock, timers, calls);
    this.#options = new OptionLayers(defaults);
    const queue = new LocalQueue<LocalTicket>(!needsLine(store));
    const waiters = new Waiters(clock, maxWaitingTotal);
    const pulse = new StorePulse(store, clock);
    const asked = { store, clock, calls, pulse };
    const holders = new HolderLookup(asked);
    this.#around = { ...asked, timers, queue, waiters, keeper, holders, events: this.events };
    this.#acquisitions = new PendingAcquisitions(this.#around);
    const deadlocks = new SelfDeadlocks(timers);
    this.#locks = new ContextLocks(this.#context, this.#acquisitions, deadlocks);
    this.#use = useStore(this.#around);
  }

  /** `LockStore.name` of the store behind this service. */
  get storeName(): string {
    return this.#around.store.name;
  }

  /** `close` was called. */
  get isClosed(): boolean {
    return this.#acquisitions.isClosed;
  }

  /**
   * Waits for the lock, at most `waitTimeout`. Release it in a `finally`, or take it with `await using`.
   *
   * Rejects with `LockTimeoutError` (held by another caller), `LockQueueFullError` (too many wait for it), `LockStoreError`
   * (the store failed), `LockKeyError` (the key is unusable), `LockDeadlockError` (the calling context holds it) or the reason
   * of `options.signal`. With `reentrant: true`, the lock may be a share of one that the calling context holds.
   */
  acquire(key: LockKeys, options?: LockOptions): Promise<Lock> {
    return promised(() => this.#locks.acquire(canonicalKeys(key), this.#options.with(options)));
  }

  /**
   * One attempt. Resolves `undefined` when the key is held, also by the calling context, unless `reentrant: true` lets it share
   * the lock.
   */
  async tryAcquire(key: LockKeys, options?: LockOptions): Promise<Lock | undefined> {
    const keys = canonicalKeys(key);
    checkLockOptions(options);
    const resolved = Object.freeze({ ...this.#options.with(options), waitTimeout: 0 });
    return this.#locks.tryAcquire(keys, resolved);
  }

  /**
   * Runs `work` under the lock and releases it however `work` ends. An error of the work comes through as the same object.
   * With `reentrant: true`, shares a lock that the calling context holds. Rejects as `acquire` does, and with `LockLostError`,
   * which carries the work's result, when the lock was lost on the way.
   */
  withLock<T>(key: LockKeys, work: (lock: Lock) => T | Promise<T>): Promise<T>;
  withLock<T>(
    key: LockKeys,
    options: LockOptions,
    work: (lock: Lock) => T | Promise<T>,
  ): Promise<T>;
  withLock<T>(
    key: LockKeys,
    ...rest:
      | [work: (lock: Lock) => T | Promise<T>]
      | [options: LockOptions, work: (lock: Lock) => T | Promise<T>]
  ): Promise<T> {
    const [options, work] = rest.length === 1 ? [undefined, rest[0]] : rest;
    return promised(() => {
      checkWork('withLock', work);
      return this.#scoped(key, options, (scope) => scope.hold(work));
    });
  }

  /**
   * Runs `work` while it holds one of the `permits` of a semaphore, as `withLock` does under a lock. Every caller of a key must
   * give the same number: another one rejects with `LockPermitsError`. Rejects with `LockUnsupportedError` where the store
   * cannot count.
   */
  withPermit<T>(
    key: LockKeys,
    options: PermitOptions,
    work: (permit: Lock) => T | Promise<T>,
  ): Promise<T> {
    return promised(() => {
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
    return promised(() => this.#scoped(key, options, (scope) => scope));
  }

  /**
   * As `enter`, for the handler of a request: a client can read as slowly as it likes, so the default of `maxHold` is 300,000,
   * five minutes. `options` and the defaults of the service can set another.
   */
  enterRequest(key: LockKeys, options?: LockOptions): Promise<LockScope> {
    return promised(() =>
      this.#locks.enter(canonicalKeys(key), this.#options.forRequest(options), (scope) => scope),
    );
  }

  /** The lock that the running async context holds: the innermost one, or that of `key`. */
  current(key?: string): Lock | undefined {
    return this.#context.current(key);
  }

  /**
   * Calls `work` in an async context that holds no lock of this service, and gives its result: for what is started under a lock
   * and is not part of its work, such as the worker of a shared queue.
   */
  outside<T>(work: () => T): T {
    checkWork('outside', work);
    return this.#context.outside(work);
  }

  /** The holder of the key; takes nothing. Resolves `undefined` when it is free. */
  async inspect(key: string): Promise<LockInspection | undefined> {
    return inspectKey(this.#around, canonicalKeys(key)[0]!, this.#options.defaults.storeTimeout);
  }

  /**
   * The held keys of all processes, page by page; takes nothing. An answer may be out of date when it is read, and a walk over
   * many pages is no snapshot. Rejects with `LockUnsupportedError` where the store cannot list, and with `LockStoreError`.
   */
  async list(options: LockListOptions = {}): Promise<LockPage> {
    return listLocks(this.#around, options, this.#options.defaults.storeTimeout);
  }

  /** The locks that this service holds, the oldest first. Sends no command. */
  held(): HeldLock[] {
    return heldLocks(this.#around.keeper.leases, this.#around.waiters);
  }

  /** Whether locks can be taken, for a readiness probe. Rejects with `TypeError` or `RangeError` for unusable options only. */
  health(options?: LockHealthOptions): Promise<LockHealth> {
    return healthOf(this.#around, this.isClosed, options);
  }

  /** The calls of this service that wait for a lock, the oldest first. Sends no command. */
  waiting(): WaitingCall[] {
    return waitingCalls(this.#acquisitions.list());
  }

  /** The nodes of a store that has several; none of any other store. Sends no command. */
  nodes(): readonly LockNode[] {
    return this.#around.store.nodes?.() ?? [];
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
    this.#context.close();
    await leaveStore(this.#around, this.#use, this.#options.defaults.storeTimeout);
  }

  #scoped<T>(
    key: LockKeys,
    options: LockOptions | undefined,
    use: (scope: LockScope) => T | Promise<T>,
  ): Promise<T> {
    return this.#locks.enter(canonicalKeys(key), this.#options.with(options), use);
  }
}
