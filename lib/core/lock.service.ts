import { randomUUID } from 'node:crypto';
import { Acquisition } from './acquisition.js';
import { systemClock } from './clock.js';
import type { Clock } from './clock.js';
import { HeldLease } from './held-lease.js';
import type { Grant, LeaseSurroundings } from './held-lease.js';
import { thisHolder } from './holder.js';
import { LeaseKeeper } from './lease-keeper.js';
import { LockStoreError } from './lock-errors.js';
import { LockEvents } from './lock-events.js';
import { canonicalKeys, keyNames } from './lock-keys.js';
import type { LockKeys } from './lock-keys.js';
import { DEFAULT_LOCK_OPTIONS, resolveLockOptions } from './lock-options.js';
import type { LockOptions, ResolvedLockOptions } from './lock-options.js';
import { LockContext } from './lock-scope.js';
import type { LockScope } from './lock-scope.js';
import type { AcquireRequest, LockInspection, LockStore } from './lock-store.js';
import { Lock } from './lock.js';
import { StoreCalls } from './store-call.js';
import { TimerQueue } from './timer-queue.js';

/** Defaults for every lock of a service. */
export interface LockServiceOptions extends LockOptions {
  /** For tests: a `FakeClock` from `nest-holdfast/testing`. */
  readonly clock?: Clock | undefined;
}

/**
 * Takes, holds and gives back locks. Works without Nest: `new LockService(store, { ttl: 10_000 })`.
 *
 * Wherever a key is expected, a list of keys locks all of them or none.
 */
export class LockService {
  /** What happens to the locks of this service. */
  readonly events = new LockEvents();
  readonly #defaults: ResolvedLockOptions;
  readonly #around: LeaseSurroundings & { readonly keeper: LeaseKeeper };
  readonly #context = new LockContext();
  readonly #acquisitions = new Set<Acquisition>();
  #closed: Promise<void> | undefined;
  #drained: (() => void) | undefined;

  constructor(store: LockStore, { clock = systemClock, ...defaults }: LockServiceOptions = {}) {
    const timers = new TimerQueue(clock);
    const calls = new StoreCalls(clock, timers);
    const keeper = new LeaseKeeper(clock, timers);
    this.#defaults = resolveLockOptions(DEFAULT_LOCK_OPTIONS, defaults);
    this.#around = { store, clock, calls, keeper, events: this.events };
  }

  /** `LockStore.name` of the store behind this service. */
  get storeName(): string {
    return this.#around.store.name;
  }

  /**
   * Waits for the lock, at most `waitTimeout`. Release it in a `finally`, or take it with `await using`.
   *
   * Rejects with `LockTimeoutError` (held by someone else), `LockStoreError` (the store failed), `LockKeyError` (the key is
   * unusable), `LockDeadlockError` (the calling context holds it) or the reason of `options.signal`.
   */
  async acquire(key: LockKeys, options?: LockOptions): Promise<Lock> {
    const keys = canonicalKeys(key);
    const resolved = this.#resolve(options);
    this.#context.refuseOwn(keys);
    return new Lock(await this.#take(keys, resolved));
  }

  /** One attempt. Resolves `undefined` when someone else, the calling context included, holds the key. */
  async tryAcquire(key: LockKeys, options?: LockOptions): Promise<Lock | undefined> {
    const keys = canonicalKeys(key);
    const resolved = this.#resolve({ ...options, waitTimeout: 0 });
    if (keys.some((each) => this.#context.current(each))) return undefined;
    const held = await this.#granted(keys, resolved, (acquisition) => acquisition.once());
    return held && new Lock(held);
  }

  /**
   * Runs `work` under the lock and releases it however `work` ends. An error of the work comes through as the same object.
   * Re-enters a lock that the calling context holds. Rejects as `acquire` does, and with `LockLostError`, which carries
   * the work's result, when the lock was lost on the way.
   */
  withLock<T>(key: LockKeys, work: (lock: Lock) => T | Promise<T>): Promise<T>;
  withLock<T>(
    key: LockKeys,
    options: LockOptions,
    work: (lock: Lock) => T | Promise<T>,
  ): Promise<T>;
  async withLock<T>(
    key: LockKeys,
    ...rest:
      | [work: (lock: Lock) => T | Promise<T>]
      | [options: LockOptions, work: (lock: Lock) => T | Promise<T>]
  ): Promise<T> {
    const [options, work] = rest.length === 1 ? [undefined, rest[0]] : rest;
    if (typeof work !== 'function') {
      throw new TypeError(`withLock expects a function as its last argument, got ${typeof work}`);
    }
    const scope = await this.enter(key, options);
    return scope.hold(work);
  }

  /** Takes the lock, or re-enters it, for work that is not one promise. Whoever calls this must call `scope.leave()`. */
  async enter(key: LockKeys, options?: LockOptions): Promise<LockScope> {
    const keys = canonicalKeys(key);
    const resolved = this.#resolve(options);
    const scope = this.#context.reenter(keys);
    return scope ?? this.#context.open(await this.#take(keys, resolved));
  }

  /** The lock that the running async context holds: the innermost one, or that of `key`. */
  current(key?: string): Lock | undefined {
    return this.#context.current(key);
  }

  /** Who holds the key, without taking anything. Resolves `undefined` when it is free. */
  async inspect(key: string): Promise<LockInspection | undefined> {
    const { store } = this.#around;
    const keys = canonicalKeys(key);
    if (!store.inspect) throw new LockStoreError(key, store.name, 'it cannot inspect keys');
    try {
      return await this.#around.calls.within(store.inspect(keys[0]!), this.#defaults.storeTimeout);
    } catch (error) {
      throw new LockStoreError(key, store.name, (error as Error).message, { cause: error });
    }
  }

  /**
   * Ends all waits, takes every lock back from its holder (whose `signal` aborts), frees the keys, and closes the store.
   * Never rejects. Nothing can be acquired afterwards.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { keeper, store } = this.#around;
    for (const each of this.#acquisitions) each.stop(this.#closedError(['*']));
    const withdrawn = [...keeper.leases].map((lease) => lease.withdraw());
    if (this.#acquisitions.size > 0) await new Promise<void>((done) => (this.#drained = done));
    await Promise.all(withdrawn);
    await store.close?.().catch((error: unknown) => process.emitWarning(String(error)));
  }

  async #take(keys: readonly string[], options: ResolvedLockOptions): Promise<HeldLease> {
    const held = await this.#granted(keys, options, (acquisition) => acquisition.untilGranted());
    return held!;
  }

  async #granted(
    keys: readonly string[],
    options: ResolvedLockOptions,
    ask: (acquisition: Acquisition) => Promise<Grant | undefined>,
  ): Promise<HeldLease | undefined> {
    if (this.#closed) throw this.#closedError(keys);
    const request = requestFor(keys, options);
    const acquisition = new Acquisition(this.#around, request, options);
    this.#acquisitions.add(acquisition);
    try {
      const grant = await ask(acquisition);
      return grant && (await this.#keep(new HeldLease(grant, request, options, this.#around)));
    } finally {
      this.#acquisitions.delete(acquisition);
      if (this.#acquisitions.size === 0) this.#drained?.();
    }
  }

  async #keep(held: HeldLease): Promise<HeldLease> {
    if (this.#closed) {
      await held.release();
      throw this.#closedError(held.keys);
    }
    held.assertHeld();
    this.#around.keeper.keep(held);
    this.events.publish('held', () => held.event());
    return held;
  }

  #resolve(options: LockOptions | undefined): ResolvedLockOptions {
    return options ? resolveLockOptions(this.#defaults, options) : this.#defaults;
  }

  #closedError(keys: readonly string[]): LockStoreError {
    return new LockStoreError(keyNames(keys), this.storeName, 'the LockService is closed');
  }
}

function requestFor(
  keys: readonly string[],
  { ttl, maxHold }: ResolvedLockOptions,
): AcquireRequest {
  return {
    key: keys[0]!,
    keys,
    token: randomUUID(),
    ttl: Math.min(ttl, maxHold),
    holder: thisHolder,
  };
}
