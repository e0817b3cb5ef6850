import type { Attempts } from '../attempts.js';
import type { Clock } from '../clock.js';
import type { LockStore } from '../lock-store.js';
import type { Patience } from '../patience.js';
import type { Turn, TurnLimits } from '../turn.js';

/** Who contends, and by what. */
export interface Contender {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly turn: Turn;
  readonly attempts: Attempts;
  readonly patience: Patience;
  readonly limits: TurnLimits;
}
