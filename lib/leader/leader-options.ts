import type { Clock } from '../core/async/clock.js';
import { withLabel } from '../core/text/with-label.js';
import type { LockOptions } from '../core/options/lock-options.js';
import { checkName } from '../core/options/option-values.js';
import { LOCK_RULES } from '../core/options/lock-rules.js';
import { aClock, aFunction, aWhole, checkOptions } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';
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

const { ttl, storeTimeout, retryDelay, retryJitter } = LOCK_RULES;

export const LEADER_RULES: OptionRules<LeaderElectionOptions> = {
  ttl,
  storeTimeout,
  retryDelay,
  retryJitter,
  onElected: aFunction,
  pause: aWhole('ms', { from: 0 }),
  gracePeriod: aWhole('ms', { from: 0 }),
  clock: aClock,
};

/** Throws `TypeError` or `RangeError` naming the option. `owner` is how messages name the class or decorator that got them. */
export function checkLeaderOptions<Options extends Partial<LeaderElectionOptions>>(
  name: unknown,
  options: Options,
  owner: string,
  rules: OptionRules<Options>,
): void {
  withLabel(owner, () => checkName('an election', name));
  checkOptions(owner, options, rules, '{ ttl: 10_000 }');
}
