import { Acquisition } from './acquisition.js';
import type { CallerOwner, Use } from './first-attempt.js';
import { ServiceEnd, closedError } from '../drain/service-end.js';
import type { PendingAcquisitionsContext } from './acquisition-context.js';
import { publishFailure } from './outcome-events.js';
import { LinkedQueue } from '../queue/linked-queue.js';
import type { Grant } from '../store/grant.js';
import { HeldLease } from '../lease/held-lease.js';
import { type Nesting, endedEarly } from './attempt-errors.js';
import { type Begun, theLease, tracedLease } from './acquire-trace.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import { HOLD, tracing } from '../events/tracing.js';
import type { LockError } from '../contract/lock-errors.js';
import { checkSharing } from '../store/store-checks.js';
import { isShared } from '../sharing/hold-mode.js';

/** The acquisitions of one service. Pending ones can be ended; grants are kept until their release. */
export class PendingAcquisitions implements CallerOwner {
  readonly #context: PendingAcquisitionsContext;
  readonly #open = new LinkedQueue<Acquisition>();
  /** The last grant, kept for V8's shapes as in `CallContext`. */
  readonly #latest: unknown[] = [];
  readonly ending: ServiceEnd;

  constructor(context: PendingAcquisitionsContext) {
    this.#context = context;
    const { store, keeper } = context;
    this.ending = new ServiceEnd(store, () => this.#open.size === 0 && keeper.leases.length === 0);
    keeper.onEnded = this.ending.ended;
  }

  /** Rejects with `LockTimeoutError`, `LockStoreError` or the reason of the signal. */
  acquire<T>(
    keys: readonly string[],
    options: ResolvedLockOptions,
    use: Use<T>,
    nesting?: Nesting,
    begun?: Begun,
  ): Promise<T> {
    if (!begun && this.#context.tracing.isAcquireTraced) {
      const lease = (follow: Begun) => this.acquire(keys, options, theLease, nesting, follow);
      return tracedLease(this.#context, keys, options, lease).then(use);
    }
    const acquisition = this.#begin(keys, options, nesting);
    begun?.(acquisition);
    return acquisition.untilGranted(use);
  }

  /** One attempt. Resolves `undefined` when another caller holds a key, in this process or elsewhere. */
  once<T>(
    keys: readonly string[],
    options: ResolvedLockOptions,
    use: Use<T>,
    nesting?: Nesting,
    begun?: Begun,
  ): Promise<T | undefined> {
    if (!begun && this.#context.tracing.isAcquireTraced) {
      const lease = (follow: Begun) => this.once(keys, options, theLease, nesting, follow);
      const traced = tracedLease(this.#context, keys, options, lease);
      return traced.then((held) => held && use(held));
    }
    const acquisition = this.#begin(keys, options, nesting);
    begun?.(acquisition);
    return acquisition.once(use);
  }

  /** Ends all waits. A later caller makes one attempt. */
  endWaits(): void {
    this.ending.mayWait = false;
    for (const each of this.#open.list()) each.stop(closedError(this.#context.store, each.keys));
  }

  /** Ends all waits, takes every lease back from its holder, and allows no more. Never rejects. */
  async close(): Promise<void> {
    this.ending.isClosed = true;
    this.endWaits();
    const withdrawn = this.#context.keeper.leases.map((lease) => lease.withdraw());
    await Promise.all([this.ending.idle(), ...withdrawn]);
  }

  /** Ends all waits but those inside a held lock, and lets none begin but in there. */
  drain(): void {
    this.ending.isDraining = true;
    for (const each of this.#open.list()) {
      const refusal = this.ending.refusalOf(each);
      if (refusal) each.stop(refusal);
    }
  }

  /** The error of a call that ends before it asks for its keys. */
  refused(keys: readonly string[], options: ResolvedLockOptions, error: unknown): unknown {
    const effort = { waited: 0, attempts: 0 };
    const call = { keys, options, effort, isStopped: this.ending.isClosed, mayWait: false };
    publishFailure(this.#context, call, error);
    return error;
  }

  #begin(keys: readonly string[], options: ResolvedLockOptions, nesting?: Nesting): Acquisition {
    const { permits, signal } = options;
    if (this.ending.hasBegun || isShared(permits) || signal) this.#check(keys, options, nesting);
    const limited = this.ending.mayWait ? options : { ...options, waitTimeout: 0 };
    const acquisition = new Acquisition(this.#context, keys, limited, this, nesting);
    this.#open.add(acquisition);
    return acquisition;
  }

  #check(keys: readonly string[], options: ResolvedLockOptions, nesting?: Nesting): void {
    try {
      const refusal = this.ending.refusalOf({ keys, nesting });
      if (refusal) throw refusal;
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
    this.ending.ended();
  };

  granted(acquisition: Acquisition, grant: Grant): unknown {
    const held = new HeldLease(grant, acquisition, this.#context);
    const refusal = this.ending.hasBegun && this.ending.refusalOf(acquisition);
    if (refusal) return this.#discard(acquisition, held, refusal);
    this.#latest[0] = held;
    held.begin();
    this.#context.events.publish('held', () => ({ ...held.event(), ...acquisition.effort }));
    if (HOLD.hasSubscribers) held.progress = tracing.hold(held.traced);
    this.#end(acquisition);
    if (held.isHeld) return acquisition.use(held);
    throw endedEarly(this.#context.store, held.lostError!);
  }

  /** For a grant that arrived after the end had begun. */
  async #discard(acquisition: Acquisition, held: HeldLease, error: LockError): Promise<never> {
    await held.discard();
    this.failed(acquisition, error);
    throw error;
  }
}
