import type { PendingAcquisitionsContext } from './acquire/acquisition-context.js';
import type { PendingAcquisitions } from './acquire/pending-acquisitions.js';
import type { LockInspection, LockNode, LockPage } from './contract/lock-store.js';
import type { LockEvents } from './events/lock-events.js';
import type { LockTracer } from './events/lock-tracer.js';
import { healthOf } from './health/health.js';
import type { LockHealth, LockHealthOptions } from './health/health.js';
import { heldLocks } from './inspection/held-locks.js';
import type { HeldLock } from './inspection/held-locks.js';
import { inspectKey } from './inspection/inspect-key.js';
import { listLocks } from './inspection/list-locks.js';
import type { LockListOptions } from './inspection/list-locks.js';
import { DEFAULT_LOCK_OPTIONS, resolveLockOptions } from './options/lock-options.js';
import type { LockOptions } from './options/lock-options.js';
import { optionError } from './options/option-error.js';
import { show } from './options/option-values.js';
import { waitingCalls } from './inspection/waiting-calls.js';
import type { WaitingCall } from './inspection/waiting-calls.js';
import { checkSharing } from './store/store-checks.js';
import { canonicalKeys } from './keys/lock-keys.js';

/** The reports of a service about its locks, its store and itself. Takes no lock. */
export abstract class LockReports {
  /** The events of this service's locks. */
  readonly events: LockEvents;
  readonly #context: PendingAcquisitionsContext;
  readonly #acquisitions: PendingAcquisitions;
  /** Milliseconds that a question to the store may take. */
  readonly #storeTimeout: number;

  constructor(
    context: PendingAcquisitionsContext,
    acquisitions: PendingAcquisitions,
    storeTimeout: number,
  ) {
    this.events = context.events;
    this.#context = context;
    this.#acquisitions = acquisitions;
    this.#storeTimeout = storeTimeout;
  }

  /** `LockStore.name` of the store behind this service. */
  get storeName(): string {
    return this.#context.store.name;
  }

  /** Throws `LockUnsupportedError` for options that no lock of the store can have: read locks, or permits. `key` is for the message. */
  checkSupport(key: string, options: LockOptions): void {
    const { permits } = resolveLockOptions(DEFAULT_LOCK_OPTIONS, options);
    if (permits !== undefined) checkSharing(this.#context.store, [key], permits);
  }

  /** `close` was called. */
  get isClosed(): boolean {
    return this.#acquisitions.ending.isClosed;
  }

  /** `drain` was called: no new work begins. */
  get isDraining(): boolean {
    return this.#acquisitions.ending.isDraining;
  }

  /**
   * Has `tracer` follow the calls and the locks of this service from now on. Calling the result ends that. Throws `TypeError` for
   * what is no `LockTracer`.
   */
  trace(tracer: LockTracer): () => void {
    checkTracer(tracer);
    return this.#context.tracing.add(tracer);
  }

  /** The holder of the key; takes nothing. Resolves `undefined` when it is free. */
  async inspect(key: string): Promise<LockInspection | undefined> {
    return inspectKey(this.#context, canonicalKeys(key)[0]!, this.#storeTimeout);
  }

  /**
   * The held keys of all processes, page by page; takes nothing. An answer may be out of date when it is read, and a walk over
   * many pages is no snapshot. Rejects with `LockUnsupportedError` where the store cannot list, and with `LockStoreError`.
   */
  async list(options: LockListOptions = {}): Promise<LockPage> {
    return listLocks(this.#context, options, this.#storeTimeout);
  }

  /** The locks that this service holds, the oldest first. Sends no command. */
  held(): HeldLock[] {
    return heldLocks(this.#context.keeper.leases, this.#context.waiters);
  }

  /** Whether locks can be taken, for a readiness probe. Rejects with `TypeError` or `RangeError` for unusable options only. */
  health(options?: LockHealthOptions): Promise<LockHealth> {
    const isEnding = this.isDraining ? 'draining' : undefined;
    return healthOf(this.#context, this.isClosed ? 'closed' : isEnding, options);
  }

  /** The calls of this service that wait for a lock, the oldest first. Sends no command. */
  waiting(): WaitingCall[] {
    return waitingCalls(this.#acquisitions.list());
  }

  /** The nodes of a store that has several; none of any other store. Sends no command. */
  nodes(): readonly LockNode[] {
    return this.#context.store.nodes?.() ?? [];
  }
}

function checkTracer(tracer: unknown): void {
  const { acquire, hold } = (tracer ?? {}) as Partial<LockTracer>;
  if (typeof acquire === 'function' && typeof hold === 'function') return;
  throw optionError(`trace: the tracer must be a LockTracer, got ${show(tracer)}`);
}
