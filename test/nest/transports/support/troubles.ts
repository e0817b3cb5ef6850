import type { LockErrorCode } from 'nest-holdfast';
import type { LockControl } from 'nest-holdfast/testing';

/** A driver's message may name hosts and accounts, so no client may read it. */
export const PRIVATE = 'connect ECONNREFUSED 10.1.2.3:6379 as admin';

/** A failure that can keep a caller from its work. */
export interface Trouble {
  readonly name: 'busy' | 'down' | 'lost';
  /** Code of the lock error that it gives. */
  readonly code: LockErrorCode;
  /** Whether the work has run all the same. */
  readonly hasRun: boolean;
  /** Does it to a key, until `control.reset()`. `lost` is for its next holder, once its work has begun. */
  readonly strike: (control: LockControl, key: string) => void;
}

/** For `it.each`: a held key, a store that fails, and a lock that is lost while the work runs. */
export const TROUBLES: readonly Trouble[] = [
  {
    name: 'busy',
    code: 'LOCK_TIMEOUT',
    hasRun: false,
    strike: (control, key) => void control.busy(key),
  },
  {
    name: 'down',
    code: 'LOCK_STORE_FAILED',
    hasRun: false,
    strike: (control, key) => void control.failing(key, new Error(PRIVATE)),
  },
  {
    name: 'lost',
    code: 'LOCK_LOST',
    hasRun: true,
    strike: (control, key) => control.lose(key),
  },
];
