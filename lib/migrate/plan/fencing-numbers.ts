import type { LockStore } from '../../core/contract/lock-store.js';
import type { MigrationPhase, ResolvedMigration } from './migrate-options.js';

/**
 * The fencing tokens of a lock that is held in both stores. `test/model/migration` explores them.
 *
 * Two counters: the larger token, to which both counters are raised. A store whose tokens are its revisions cannot be raised: its
 * tokens count from `base` on, which is above all tokens of the other one. They are handed out once a process in `handover` has
 * done so, as the raised counter tells.
 */
export class FencingNumbers {
  readonly #base: bigint;
  readonly #phase: MigrationPhase;
  readonly #countsFrom: boolean;
  readonly #countsTo: boolean;

  constructor({ from, to, phase, fencingBase }: ResolvedMigration) {
    this.#base = fencingBase;
    this.#phase = phase;
    this.#countsFrom = from === undefined || isCounter(from);
    this.#countsTo = isCounter(to);
  }

  /** The floor of the request to `to`. */
  floorOf(from: bigint | undefined): bigint | undefined {
    if (from === undefined || !this.#countsTo) return undefined;
    return !this.#countsFrom && this.#phase === 'handover' ? largest(from, this.#base) : from;
  }

  /** Of grants with these tokens. Sharers have none. */
  tokenOf(from: bigint | undefined, to: bigint | undefined): bigint | undefined {
    if (from === undefined || to === undefined) return undefined;
    if (this.#countsFrom && this.#countsTo) return largest(from, to);
    const isHandedOver = this.#phase === 'handover' || (this.#countsTo ? to : from) >= this.#base;
    return isHandedOver ? this.ofTarget(to) : from;
  }

  /** The token of a holder that has only `to`. */
  ofTarget(to: bigint): bigint {
    return this.#countsTo ? to : this.#base + to;
  }

  /** Whether a token of `to` tells when it was granted: it is no revision of `from`, nor one more. */
  get areTimed(): boolean {
    return this.#countsFrom;
  }

  /** The number of `to` for a token of `ofTarget`. */
  toTarget(token: bigint): bigint {
    return this.#countsTo ? token : token - this.#base;
  }

  /** Whether the counter of `from` is to be raised before the token is handed out. */
  isAhead(token: bigint | undefined, from: bigint | undefined): token is bigint {
    return token !== undefined && from !== undefined && token > from && this.#countsFrom;
  }
}

function isCounter({ supports }: LockStore): boolean {
  return supports.fencingFloor !== false;
}

function largest(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
