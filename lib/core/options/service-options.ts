import { systemClock } from '../async/clock.js';
import type { Clock } from '../async/clock.js';
import type { AroundWork } from '../events/tracing.js';
import type { LockDefaults } from './lock-options.js';
import { checkDefaults, DEFAULT_RULES } from './option-layers.js';
import { checkIsObject } from './option-values.js';
import { aClock, aFunction, aWhole } from './option-rules.js';
import type { OptionRules } from './option-rules.js';

/** Defaults for every lock of a service. */
export interface LockServiceOptions extends LockDefaults {
  /**
   * How many callers may wait for locks of this service, whatever their keys. One more rejects with `LockQueueFullError` at once.
   * @default 100_000
   */
  readonly maxWaitingTotal?: number | undefined;
  /**
   * Called around the work under a lock, of `withLock`, `withPermit`, the decorators and Express: for what has to be set up in the
   * async context of the work, such as the active span. It calls `run` once, and returns its result. `hold` is the message of the
   * tracing channel `nest-holdfast:hold`. Streams have it called for each of their steps, nested calls (`reentrant: true`) not.
   */
  readonly aroundWork?: AroundWork | undefined;
  /** For tests: a `FakeClock` from `nest-holdfast/testing`. */
  readonly clock?: Clock | undefined;
}

interface CheckedOptions {
  readonly clock: Clock;
  readonly maxWaitingTotal: number;
  readonly aroundWork: AroundWork | undefined;
  readonly defaults: LockDefaults;
}

export const SERVICE_RULES: OptionRules<LockServiceOptions> = {
  clock: aClock,
  maxWaitingTotal: aWhole('callers', { from: 0, orInfinity: true }),
  ...DEFAULT_RULES,
  aroundWork: aFunction,
};

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkServiceOptions(options: LockServiceOptions): CheckedOptions {
  checkIsObject('the options of LockService', options, '{ ttl: 10_000 }');
  checkDefaults('LockService', options, SERVICE_RULES);
  const { clock = systemClock, maxWaitingTotal = 100_000, aroundWork, ...defaults } = options;
  return { clock, maxWaitingTotal, aroundWork, defaults };
}
