import { register as defaultRegister } from 'prom-client';
import type { LockService } from '../core/lock.service.js';
import { a, checkOptions } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';
import { checkLocks } from '../metrics/check-locks.js';
import { LEVELS } from '../metrics/definitions.js';
import { LockLevels } from '../metrics/lock-levels.js';
import { recordLocks } from '../metrics/record-locks.js';
import type { Recorder } from '../metrics/record-locks.js';
import { labelsOf } from './prometheus-names.js';
import { addLevel, counterIn, histogramIn } from './registered.js';
import type { Register } from './registered.js';

export interface LockMetricsOptions {
  /**
   * The `Registry` of prom-client to which the metrics belong. Several services may share it.
   * @default the `register` of prom-client
   */
  readonly register?: Register | undefined;
}

const RULES: OptionRules<LockMetricsOptions> = {
  register: a('a Registry of prom-client', isRegistry),
};

/**
 * Registers the metrics of `locks` with prom-client, and measures from now on. Calling the result ends that; the counts so far
 * stay. No label has a key.
 *
 * ```ts
 * lockMetrics(locks, { register });
 * ```
 *
 * Throws `TypeError` for unusable arguments, and when the registry has another metric of one of the names.
 */
export function lockMetrics(locks: LockService, options: LockMetricsOptions = {}): () => void {
  checkLocks('lockMetrics', locks);
  checkOptions('lockMetrics', options, RULES, '{ register }');
  const { register = defaultRegister } = options;
  const record = recorderIn(register);
  const levels = new LockLevels(locks);
  const ends = LEVELS.map((level) => addLevel(register, level, () => levels.read(level)));
  const endRecords = recordLocks(locks, record);
  return () => {
    endRecords();
    for (const end of ends) end();
  };
}

function recorderIn(register: Register): Recorder {
  const histograms = {
    acquireDuration: histogramIn(register, 'acquireDuration'),
    holdDuration: histogramIn(register, 'holdDuration'),
  };
  const counters = {
    extensionFailures: counterIn(register, 'extensionFailures'),
    releaseFailures: counterIn(register, 'releaseFailures'),
  };
  return {
    observe: (id, seconds, attributes) => histograms[id].observe(labelsOf(attributes), seconds),
    count: (id, attributes) => counters[id].inc(labelsOf(attributes)),
  };
}

function isRegistry(value: unknown): boolean {
  return typeof (value as Partial<Register> | null)?.getSingleMetric === 'function';
}
