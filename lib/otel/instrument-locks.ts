import { metrics } from '@opentelemetry/api';
import type { MeterProvider } from '@opentelemetry/api';
import type { LockService } from '../core/lock.service.js';
import { a, checkOptions } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';
import { checkLocks } from '../metrics/check-locks.js';
import { LockLevels } from '../metrics/lock-levels.js';
import { recordLocks } from '../metrics/record-locks.js';
import { instrumentsOf } from './instruments.js';
import type { Instruments } from './instruments.js';

export interface InstrumentLocksOptions {
  /**
   * Where the metrics go. Several services may share it.
   * @default the global one of `@opentelemetry/api`, also if it is set later
   */
  readonly meterProvider?: MeterProvider | undefined;
}

const RULES: OptionRules<InstrumentLocksOptions> = {
  meterProvider: a('a MeterProvider', isMeterProvider),
};

/**
 * Measures `locks` with OpenTelemetry from now on. Calling the result ends that. No attribute has a key.
 *
 * ```ts
 * instrumentLocks(locks);
 * ```
 *
 * The instruments are made with the first measurement: those that are made before the SDK has started do nothing for ever.
 * Throws `TypeError` for unusable arguments.
 */
export function instrumentLocks(
  locks: LockService,
  options: InstrumentLocksOptions = {},
): () => void {
  checkLocks('instrumentLocks', locks);
  checkOptions('instrumentLocks', options, RULES, '{ meterProvider }');
  const levels = new LockLevels(locks);
  let used: Instruments | undefined;
  const instruments = () => {
    const current = instrumentsOf(options.meterProvider ?? metrics.getMeterProvider());
    if (current !== used) used?.levels.delete(levels);
    used = current;
    used.levels.add(levels);
    return used;
  };
  const end = recordLocks(locks, {
    observe: (id, seconds, attributes) => instruments().histograms[id].record(seconds, attributes),
    count: (id, attributes) => instruments().counters[id].add(1, attributes),
  });
  return () => {
    end();
    used?.levels.delete(levels);
  };
}

function isMeterProvider(value: unknown): boolean {
  return typeof (value as Partial<MeterProvider> | null)?.getMeter === 'function';
}
