import { Acquisition } from './acquisition.js';
import type { CallerOwner, Use } from './first-attempt.js';
import type { AcquisitionContext } from './acquisition-context.js';
import { publishFailure } from './outcome-events.js';
import { LinkedQueue } from '../queue/linked-queue.js';
import type { Grant } from '../store/grant.js';
import { HeldLease } from '../lease/held-lease.js';
import type { LeaseContext } from '../lease/lease-context.js';
import type { LeaseKeeper } from '../lease/lease-keeper.js';
import { type Explain, closedError, endedEarly } from './attempt-errors.js';
import { type Begun, theLease, tracedLease } from './acquire-trace.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import { HOLD, tracing } from '../events/tracing.js';
import { checkSharing } from '../store/store-checks.js';
import { isShared } from '../sharing/hold-mode.js';

export type PendingAcquisitionsContext = AcquisitionContext &
  LeaseContext & { readonly keeper: LeaseKeeper };

/** The acquisitions of one service. Pending ones can be ended; grants are kept until their release. */
export class PendingAcquisitions implements CallerOwner {
  readonly #context: PendingAcquisitionsContext;
  readonly #open = new LinkedQueue<Acquisition>();
  /** The last grant, kept for V8's shapes as in `CallContext`. */
  readonly #latest: unknown[] = [];
  #mayWait = true;
  #isClosed = false;
  #drained: (() => void) | undefined;

  constructor(context: PendingAcquisitionsContext) {
    this.#context = context;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Rejects with `LockTimeoutError`, `LockStoreError` or the reason of the signal. */
  acquire<T>(
    keys: readonly string[],
    options: ResolvedLockOptions,
    use: Use<T>,
    explain?: Explain,
    begun?: Begun,
  ): Promise<T> {
    if (!begun && this.#context.tracing.isAcquireTraced) {
      const lease = (follow: Begun) => this.acquire(keys, options, theLease, explain, follow);
      return tracedLease(this.#context, keys, options, lease).then(use);
    }
    const acquisition = this.#begin(keys, options, explain);
    begun?.(acquisition);
    return acquisition.untilGranted(use);
  }

  /** One attempt. Resolves `undefined` when another caller holds a key, in this process or elsewhere. */
  once<T>(
    keys: readonly string[],
    options: ResolvedLockOptions,
    use: Use<T>,
    begun?: Begun,
  ): Promise<T | undefined> {
    if (!begun && this.#context.tracing.isAcquireTraced) {
      const lease = (follow: Begun) => this.once(keys, options, theLease, follow);
      const traced = tracedLease(this.#context, keys, options, lease);
      return traced.then((held) => held && use(held));
    }
    const acquisition = this.#begin(keys, options);
    begun?.(acquisition);
    return acquisition.once(use);
  }

  /** Ends all waits. A later caller makes one attempt. */
  endWaits(): void {
    this.#mayWait = false;
    for (const each of this.#open.list()) each.stop(closedError(this.#context.store, each.keys));
  }

  /** Ends all waits, takes every lease back from its holder, and allows no more. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.endWaits();
    const drained = new Promise<void>((resolve) => (this.#drained = resolve));
    if (this.#open.size === 0) this.#drained!();
    const withdrawn = this.#context.keeper.leases.map((lease) => lease.withdraw());
    await Promise.all([drained, ...withdrawn]);
  }

  /** The error of a call that ends before it asks for its keys. */
  refused(keys: readonly string[], options: ResolvedLockOptions, error: unknown): unknown {
    const effort = { waited: 0, attempts: 0 };
    const call = { keys, options, effort, isStopped: this.#isClosed, mayWait: false };
    publishFailure(this.#context, call, error);
    return error;
  }

  #begin(keys: readonly string[], options: ResolvedLockOptions, explain?: Explain): Acquisition {
    const { permits, signal } = options;
    if (this.#isClosed || isShared(permits) || signal) this.#checkMayBegin(keys, options);
    const limited = this.#mayWait ? options : { ...options, waitTimeout: 0 };
    const acquisition = new Acquisition(this.#context, keys, limited, this, explain);
    this.#open.add(acquisition);
    return acquisition;
  }

  #checkMayBegin(keys: readonly string[], options: ResolvedLockOptions): void {
    try {
      if (this.#isClosed) throw closedError(this.#context.store, keys);
      if (isShared(options.permits)) checkSharing(this.#context.store, keys, options.permits);
      options.signal?.throwIfAborted();
    } catch (error) {
      throw this.refused(keys, options, error);
    }
  }

  failed(acquisition: Acquisition, error: unknown): void {
    this.#end(acquisition);
    publishFailure(this.#context, acquisition, error);
  }

  readonly list = () => this.#open.list(); // in order of the calls

  readonly #end = (acquisition: Acquisition): void => {
    this.#open.remove(acquisition);
    if (acquisition.isInWait) this.#context.waiters.leave(acquisition.keys);
    if (this.#open.size === 0) this.#drained?.();
  };

  granted(acquisition: Acquisition, grant: Grant): unknown {
    const held = new HeldLease(grant, acquisition, this.#context);
    this.#latest[0] = held;
    held.begin();
    this.#context.events.publish('held', () => ({ ...held.event(), ...acquisition.effort }));
    if (HOLD.hasSubscribers) held.progress = tracing.hold(held.traced);
    if (this.#isClosed) return this.#giveUp(held).finally(() => this.#end(acquisition));
    this.#end(acquisition);
    if (held.isHeld) return acquisition.use(held);
    throw endedEarly(this.#context.store, held.lostError!);
  }

  /** For a grant that arrived while the service was closing. */
  async #giveUp(held: HeldLease): Promise<never> {
    await held.withdraw();
    throw closedError(this.#context.store, held.keys);
  }
}
