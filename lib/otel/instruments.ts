import type {
  Counter,
  Histogram,
  Meter,
  MeterProvider,
  ObservableResult,
} from '@opentelemetry/api';
import { BUCKETS, LEVELS, METRICS } from '../metrics/definitions.js';
import type { MetricOf } from '../metrics/definitions.js';
import { totalsOf } from '../metrics/lock-levels.js';
import type { Level, LockLevels } from '../metrics/lock-levels.js';

export interface Instruments {
  readonly histograms: Readonly<Record<MetricOf<'histogram'>, Histogram>>;
  readonly counters: Readonly<Record<MetricOf<'counter'>, Counter>>;
  /** The sources whose values are added up when the metrics are read. */
  readonly levels: Set<LockLevels>;
}

const MADE = new WeakMap<MeterProvider, Instruments>();

/** Those of a provider, made when they are first asked for: services of one store report one sum. */
export function instrumentsOf(provider: MeterProvider): Instruments {
  const known = MADE.get(provider);
  if (known) return known;
  const made = instrumentsWith(provider.getMeter('nest-holdfast'));
  MADE.set(provider, made);
  return made;
}

function instrumentsWith(meter: Meter): Instruments {
  const advice = { explicitBucketBoundaries: BUCKETS }; // the default is for milliseconds
  const histogram = (id: MetricOf<'histogram'>) =>
    meter.createHistogram(METRICS[id].name, {
      unit: METRICS[id].unit,
      description: METRICS[id].description,
      advice,
    });
  const counter = (id: MetricOf<'counter'>) =>
    meter.createCounter(METRICS[id].name, {
      unit: METRICS[id].unit,
      description: METRICS[id].description,
    });
  const levels = new Set<LockLevels>();
  for (const level of LEVELS) addLevel(meter, level, levels);
  return {
    histograms: {
      acquireDuration: histogram('acquireDuration'),
      holdDuration: histogram('holdDuration'),
    },
    counters: {
      extensionFailures: counter('extensionFailures'),
      releaseFailures: counter('releaseFailures'),
    },
    levels,
  };
}

function addLevel(meter: Meter, level: Level, levels: ReadonlySet<LockLevels>): void {
  const { name, unit, description } = METRICS[level];
  const counter = meter.createObservableUpDownCounter(name, { unit, description });
  counter.addCallback((result: ObservableResult) => {
    const readings = [...levels].flatMap((each) => each.read(level));
    for (const { attributes, value } of totalsOf(readings)) result.observe(value, attributes);
  });
}
