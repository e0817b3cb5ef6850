import { metrics } from '@opentelemetry/api';
import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import type { LockService } from '../core/lock.service.js';
import { a, aBoolean, checkOptions } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';
import { checkLocks } from '../metrics/check-locks.js';
import { LockLevels } from '../metrics/lock-levels.js';
import { recordLocks } from '../metrics/record-locks.js';
import { instrumentsOf } from './instruments.js';
import { SpanTracer } from './span-tracer.js';
import type { Instruments } from './instruments.js';

export interface InstrumentLocksOptions {
  /**
   * Where the metrics go. Several services may share it.
   * @default the global one of `@opentelemetry/api`, also if it is set later
   */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Where the spans go.
   * @default the global one of `@opentelemetry/api`, also if it is set later
   */
  readonly tracerProvider?: TracerProvider | undefined;
  /**
   * Adds keys, fencing tokens and the number of attempts to the spans. A key may hold an e-mail address.
   * @default false
   */
  readonly recordKeys?: boolean | undefined;
}

const RULES: OptionRules<InstrumentLocksOptions> = {
  meterProvider: a('a MeterProvider', isMeterProvider),
  tracerProvider: a('a TracerProvider', isTracerProvider),
  recordKeys: aBoolean,
};

/**
 * Measures and traces `locks` with OpenTelemetry from now on. Calling the result ends that. No attribute of a metric has a key.
 *
 * The spans, of the kind `INTERNAL`, are `acquire <name>` for each call, and `hold <name>` for the time for which work has a lock:
 * that of `withLock`, `withPermit`, the decorators and Express. The spans of the work are children of the latter.
 *
 * ```ts
 * instrumentLocks(locks);
 * ```
 *
 * The SDK may start later: instruments are made with the first measurement, and tracers asked for at each call.
 * Throws `TypeError` for unusable arguments.
 */
export function instrumentLocks(
  locks: LockService,
  options: InstrumentLocksOptions = {},
): () => void {
  checkLocks('instrumentLocks', locks);
  checkOptions('instrumentLocks', options, RULES, '{ meterProvider, tracerProvider, recordKeys }');
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
  const endSpans = locks.trace(new SpanTracer(options));
  return () => {
    end();
    endSpans();
    used?.levels.delete(levels);
  };
}

function isMeterProvider(value: unknown): boolean {
  return typeof (value as Partial<MeterProvider> | null)?.getMeter === 'function';
}

function isTracerProvider(value: unknown): boolean {
  return typeof (value as Partial<TracerProvider> | null)?.getTracer === 'function';
}
