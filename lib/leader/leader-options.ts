import type { Clock } from '../core/clock.js';
import { labelled } from '../core/labelled.js';
import { DEFAULT_LOCK_OPTIONS, resolveLockOptions } from '../core/lock-options.js';
import type { LockOptions } from '../core/lock-options.js';
import { checkOptionNames } from '../core/option-names.js';
import { checkIsObject, checkName, show } from '../core/option-values.js';
import type { LeaderTerm } from './leader-term.js';

/** All times are milliseconds. */
export interface LeaderElectionOptions extends Pick<
  LockOptions,
  'ttl' | 'storeTimeout' | 'retryDelay' | 'retryJitter'
> {
  /**
   * Called when this process is elected. It leads until it resigns or loses the lock, not until this returns. When this
   * throws, it resigns (event `failed`). The next term begins when this has ended, so it should end when `term.signal` aborts.
   */
  readonly onElected?: ((term: LeaderTerm) => unknown) | undefined;
  /**
   * From the end of a term, or from a failure of the store, until this process stands again; at random up to half as long again.
   * @default 1_000
   */
  readonly pause?: number | undefined;
  /**
   * How long a resignation waits for `onElected` to end before it gives the lock back all the same.
   * @default 5_000
   */
  readonly gracePeriod?: number | undefined;
  /** For tests: a `FakeClock` from `nest-holdfast/testing`. */
  readonly clock?: Clock | undefined;
}

export const LEADER_OPTIONS = [
  'ttl',
  'storeTimeout',
  'retryDelay',
  'retryJitter',
  'onElected',
  'pause',
  'gracePeriod',
  'clock',
];

/** Throws `TypeError` or `RangeError` naming the option. `label` is how messages name who was given them. */
export function checkLeaderOptions(
  name: unknown,
  options: LeaderElectionOptions,
  label = 'LeaderElection',
  known: readonly string[] = LEADER_OPTIONS,
): void {
  labelled(label, () => {
    checkName('an election', name);
    checkIsObject('the options', options, '{ ttl: 10_000 }');
  });
  checkOptionNames(options, known, label);
  labelled(label, () => checkValues(options));
}

/** Of those that are known. */
function checkValues(options: LeaderElectionOptions & { readonly locks?: unknown }): void {
  const { onElected, pause, gracePeriod, clock: _, locks: __, ...lockOptions } = options;
  resolveLockOptions(DEFAULT_LOCK_OPTIONS, lockOptions);
  if (onElected !== undefined && typeof onElected !== 'function') {
    throw new TypeError(`onElected must be a function, got ${show(onElected)}`);
  }
  for (const [option, value] of Object.entries({ pause, gracePeriod })) {
    if (value === undefined || (Number.isInteger(value) && value >= 0)) continue;
    throw new RangeError(`${option} must be a whole number of ms, 0 or more, got ${show(value)}`);
  }
}
