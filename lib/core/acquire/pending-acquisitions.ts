import { Acquisition } from './acquisition.js';
import type { Call, CallerOwner } from './first-attempt.js';
import { ServiceEnd, closedError } from '../drain/service-end.js';
import type { PendingAcquisitionsContext } from './acquisition-context.js';
import { publishFailure } from './outcome-events.js';
import { LinkedQueue } from '../queue/linked-queue.js';
import type { Grant } from '../store/grant.js';
import { HeldLease } from '../lease/held-lease.js';
import { type Nesting, endedEarly } from './attempt-errors.js';
import { type Begun, theLease, tracedLease } from './acquire-trace.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import { ACQUIRE, HOLD, tracing } from '../events/tracing.js';
import type { LockError } from '../contract/lock-errors.js';
import { checkSharing } from '../store/store-checks.js';
import { isShared } from '../sharing/hold-mode.js';

/** The acquisitions of one service. Pending ones can be ended; grants are kept until their release. */
export class PendingAcquisitions implements CallerOwner {
  readonly #context: PendingAcquisitionsContext;
  readonly #open = new LinkedQueue<Acquisition>();
  readonly ending: ServiceEnd;

  constructor(context: PendingAcquisitionsContext) {
    this.#context = context;
    const { store, keeper } = context;
    this.ending = new ServiceEnd(store, () => this.#open.size === 0 && keeper.leases.length === 0);
  }

  /**
   * Rejects with `LockTimeoutError`, `LockStoreError` or the reason of the signal. `isOnce`: one attempt, which resolves `undefined` when
   * another caller holds a key, in this process or elsewhere.
   */
  acquire<T>(keys: readonly string[], options: ResolvedLockOptions, call: Call<T>): Promise<T> {
    const followers = this.#context.tracing;
    const mayTrace = !call.begun && (ACQUIRE.hasSubscribers || followers.hasTracers);
    if (mayTrace && followers.isAcquireTraced) return this.#traced(keys, options, call);
    if (this.ending.hasBegun || isShared(options.permits) || options.signal)
      this.#check(keys, options, call.nesting);
    const limited = this.ending.mayWait ? options : { ...options, waitTimeout: 0 };
    const acquisition = new Acquisition(this.#context, keys, limited, this, call);
    this.#open.add(acquisition);
    call.begun?.(acquisition);
    return acquisition.start() as Promise<T>;
  }

  async #traced<T>(
    keys: readonly string[],
    options: ResolvedLockOptions,
    call: Call<T>,
  ): Promise<T> {
    const lease = (begun: Begun) =>
      this.acquire<HeldLease | undefined>(keys, options, { ...call, use: theLease, begun });
    const held = await tracedLease(this.#context, keys, options, lease);
    return held ? call.use(held) : (undefined as T); // of one attempt
  }

  /** Ends all waits. A later caller makes one attempt. */
  endWaits(): void {
    this.ending.mayWait = false;
    for (const each of this.#open.list()) each.stop(closedError(this.#context.store, each.keys));
  }

  /** Ends all waits, takes every lease back from its holder, and allows no more. Never rejects. */
  async close(): Promise<void> {
    this.#endBegins();
    this.ending.isClosed = true;
    this.endWaits();
    const withdrawn = this.#context.keeper.leases.map((lease) => lease.withdraw());
    await Promise.all([this.ending.idle(), ...withdrawn]);
  }

  /** Ends all waits but those inside a held lock, and lets none begin but in there. */
  drain(): void {
    this.#endBegins();
    this.ending.isDraining = true;
    for (const each of this.#open.list()) {
      const refusal = this.ending.refusalOf(each);
      if (refusal) each.stop(refusal);
    }
  }

  #endBegins(): void {
    this.ending.hasBegun = true;
    this.#context.keeper.onEnded = this.ending.ended;
  }

  /** The error of a call that ends before it asks for its keys. */
  refused(keys: readonly string[], options: ResolvedLockOptions, error: unknown): unknown {
    const effort = { waited: 0, attempts: 0 };
    const call = { keys, options, effort, isStopped: this.ending.isClosed, mayWait: false };
    publishFailure(this.#context, call, error);
    return error;
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
    if (this.ending.hasBegun) this.ending.ended();
  };

  granted(acquisition: Acquisition, grant: Grant): unknown {
    const held = new HeldLease(grant, acquisition, this.#context);
    const refusal = this.ending.hasBegun && this.ending.refusalOf(acquisition);
    if (refusal) return this.#discard(acquisition, held, refusal);
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
