import { systemClock } from '../async/clock.js';
import type { Clock } from '../async/clock.js';
import type { LockDefaults } from './lock-options.js';
import { checkDefaults, DEFAULT_RULES } from './option-layers.js';
import { checkIsObject } from './option-values.js';
import { aClock, aWhole } from './option-rules.js';
import type { OptionRules } from './option-rules.js';

/** Defaults for every lock of a service. */
export interface LockServiceOptions extends LockDefaults {
  /**
   * How many callers may wait for locks of this service, whatever their keys. One more rejects with `LockQueueFullError` at once.
   * @default 100_000
   */
  readonly maxWaitingTotal?: number | undefined;
  /** For tests: a `FakeClock` from `nest-holdfast/testing`. */
  readonly clock?: Clock | undefined;
}

interface CheckedOptions {
  readonly clock: Clock;
  readonly maxWaitingTotal: number;
  readonly defaults: LockDefaults;
}

export const SERVICE_RULES: OptionRules<LockServiceOptions> = {
  clock: aClock,
  maxWaitingTotal: aWhole('callers', { from: 0, orInfinity: true }),
  ...DEFAULT_RULES,
};

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkServiceOptions(options: LockServiceOptions): CheckedOptions {
  checkIsObject('the options of LockService', options, '{ ttl: 10_000 }');
  checkDefaults('LockService', options, SERVICE_RULES);
  const { clock = systemClock, maxWaitingTotal = 100_000, ...defaults } = options;
  return { clock, maxWaitingTotal, defaults };
}
