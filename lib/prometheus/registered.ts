import { Counter, Gauge, Histogram } from 'prom-client';
import type { MetricConfiguration, OpenMetricsContentType, Registry } from 'prom-client';
import { optionError } from '../core/options/option-error.js';
import { BUCKETS, METRICS } from '../metrics/definitions.js';
import type { MetricId, MetricOf } from '../metrics/definitions.js';
import type { Reading } from '../metrics/lock-levels.js';
import { labelOf, labelsOf, prometheusName } from './prometheus-names.js';

export type Register = Registry | Registry<OpenMetricsContentType>;

type Source = () => readonly Reading[];

/** Metrics of ours have it, also those of another copy of this package. The sources are those of a level. */
const SOURCES = Symbol.for('nest-holdfast.prometheus.sources');

interface Ours {
  [SOURCES]?: Set<Source>;
}

export function histogramIn(register: Register, id: MetricOf<'histogram'>): Histogram {
  return ours(register, id, (common) => new Histogram({ ...common, buckets: BUCKETS }));
}

export function counterIn(register: Register, id: MetricOf<'counter'>): Counter {
  return ours(register, id, (common) => new Counter(common));
}

/** A gauge that adds up what its sources say when it is scraped. Calling the result takes `source` out. */
export function addLevel(register: Register, id: MetricOf<'level'>, source: Source): () => void {
  const { [SOURCES]: sources } = ours<Gauge & Ours>(register, id, (common, of) => {
    return new Gauge({ ...common, collect: collector(of) });
  });
  sources!.add(source);
  return () => sources!.delete(source);
}

function collector(sources: ReadonlySet<Source>) {
  return function (this: Gauge): void {
    this.reset();
    for (const source of sources) {
      for (const { attributes, value } of source()) this.inc(labelsOf(attributes), value);
    }
  };
}

/** The one that is registered already, by another service say, or a new one. */
function ours<Kind extends object>(
  register: Register,
  id: MetricId,
  make: (common: MetricConfiguration<string>, sources: Set<Source>) => Kind,
): Kind {
  const metric = METRICS[id];
  const name = prometheusName(metric);
  const known = register.getSingleMetric(name) as (Kind & Ours) | undefined;
  if (known && !known[SOURCES]) {
    throw optionError(`lockMetrics: register must not have a "${name}" yet, got one that is not of nest-holdfast`); // prettier-ignore
  }
  if (known) return known;
  const labelNames = metric.attributes.map(labelOf);
  const sources = new Set<Source>();
  const common = { name, help: metric.description, labelNames, registers: [register] };
  return Object.assign(make(common, sources), { [SOURCES]: sources });
}
