import { Acquisition } from './acquisition.js';
import type { AcquisitionSurroundings } from './acquisition.js';
import { Fifo } from './fifo.js';
import type { Grant } from './grant.js';
import { HeldLease } from './held-lease.js';
import type { LeaseSurroundings } from './lease/lease-surroundings.js';
import type { LeaseKeeper } from './lease-keeper.js';
import { LockStoreError } from './lock-errors.js';
import type { LockLostError } from './lock-errors.js';
import { keyNames } from './lock-keys.js';
import type { ResolvedLockOptions } from './lock-options.js';
import { checkSharing } from './store-upkeep.js';

export type AcquisitionsSurroundings = AcquisitionSurroundings &
  LeaseSurroundings & { readonly keeper: LeaseKeeper };

/** What is made of a grant, in the turn in which it arrived: on the way of every lock, each promise in between counts. */
type Use<T> = (held: HeldLease) => T | Promise<T>;

/** The acquisitions of one service: those under way can be ended, and what they grant is kept until it is released. */
export class Acquisitions {
  readonly #around: AcquisitionsSurroundings;
  readonly #open = new Fifo<Acquisition>();
  /** The last grant, for the reason that `StoreCalls` has: so that its shapes stay. */
  readonly #latest: unknown[] = [];
  #mayWait = true;
  #isClosed = false;
  #drained: (() => void) | undefined;

  constructor(around: AcquisitionsSurroundings) {
    this.#around = around;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Rejects with `LockTimeoutError`, `LockStoreError` or the reason of the signal. */
  granted<T>(keys: readonly string[], options: ResolvedLockOptions, use: Use<T>): Promise<T> {
    const acquisition = this.#begin(keys, options);
    return acquisition.untilGranted((grant) => this.#keep(acquisition, grant, use));
  }

  /** One attempt. Resolves `undefined` when someone else holds a key, in this process or elsewhere. */
  once<T>(
    keys: readonly string[],
    options: ResolvedLockOptions,
    use: Use<T>,
  ): Promise<T | undefined> {
    const acquisition = this.#begin(keys, options);
    return acquisition.once((grant) => this.#keep(acquisition, grant, use));
  }

  /** Ends all waits. Who comes later makes one attempt. */
  endWaits(): void {
    this.#mayWait = false;
    for (const each of this.#open.list()) each.stop(this.#closedError(each.turn.keys));
  }

  /** Ends all waits, takes every lease back from its holder, and allows no more. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.endWaits();
    const drained = new Promise<void>((resolve) => (this.#drained = resolve));
    if (this.#open.size === 0) this.#drained!();
    const withdrawn = this.#around.keeper.leases.map((lease) => lease.withdraw());
    await Promise.all([drained, ...withdrawn]);
  }

  #begin(keys: readonly string[], options: ResolvedLockOptions): Acquisition {
    if (this.#isClosed) throw this.#closedError(keys);
    checkSharing(this.#around.store, keys, options.permits);
    options.signal?.throwIfAborted();
    const limited = this.#mayWait ? options : { ...options, waitTimeout: 0 };
    const acquisition = new Acquisition(this.#around, keys, limited, this.#end);
    this.#open.add(acquisition);
    return acquisition;
  }

  readonly #end = (acquisition: Acquisition): void => {
    this.#open.remove(acquisition);
    acquisition.ended();
    if (this.#open.size === 0) this.#drained?.();
  };

  #keep<T>(acquisition: Acquisition, grant: Grant, use: Use<T>): T | Promise<T> {
    const held = new HeldLease(grant, acquisition.turn, acquisition.options, this.#around);
    this.#latest[0] = acquisition;
    this.#latest[1] = held;
    this.#around.keeper.keep(held);
    this.#around.events.publish('held', () => held.event());
    if (this.#isClosed) return this.#giveUp(held).finally(() => this.#end(acquisition));
    this.#end(acquisition);
    if (held.lostError) throw this.#endedEarly(held.lostError);
    return use(held);
  }

  /** For a grant that arrived while the service was closing. */
  async #giveUp(held: HeldLease): Promise<never> {
    await held.withdraw();
    throw this.#closedError(held.keys);
  }

  #closedError(keys: readonly string[]): LockStoreError {
    return new LockStoreError(keyNames(keys), this.#around.store.name, 'the LockService is closed');
  }

  /** While the process stood still, after the grant had been looked at. */
  #endedEarly(loss: LockLostError): LockStoreError {
    const { key, reason } = loss;
    const why = `the lock ended before it could be handed out (${reason})`;
    return new LockStoreError(key, this.#around.store.name, why, { cause: loss });
  }
}
