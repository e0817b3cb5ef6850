import type { Clock } from '../../core/async/clock.js';
import type { LockStore } from '../../core/contract/lock-store.js';

/** A global provider of this token has the stores of all instances: `LockTestingModule` of `nest-holdfast/testing`. */
export const STAND_INS = Symbol.for('nest-holdfast:stand-ins');

/** Other stores than the options ask for. With them, nothing is connected to. */
export interface StandIns {
  /** The clock of all services, where it is not to be that of their options. */
  readonly clock?: Clock | undefined;
  store(instance: string | undefined, clock: Clock | undefined): LockStore;
}
