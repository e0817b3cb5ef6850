import { MetricReader } from '@opentelemetry/sdk-metrics';
import type { MetricData } from '@opentelemetry/sdk-metrics';
import { labelOf, prometheusName } from '../../../lib/prometheus/prometheus-names';
import { METRICS } from '../../../lib/metrics/definitions';

/** Of a real SDK. It reads when it is asked. */
export class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}

  /** By name. */
  async read(): Promise<Map<string, MetricData>> {
    const { resourceMetrics, errors } = await this.collect();
    expect(errors).toEqual([]);
    const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    return new Map(all.map((metric) => [metric.descriptor.name, metric]));
  }
}

/** As Prometheus would show it: `name{label="value",…}`. */
export function asScraped(all: Map<string, MetricData>): Record<string, number> {
  const series: [string, number][] = [];
  for (const metric of Object.values(METRICS)) {
    const data = all.get(metric.name);
    const name = prometheusName(metric);
    for (const { attributes, value } of data?.dataPoints ?? []) {
      const labels = Object.entries(attributes).map(
        ([key, of]) => `${labelOf(key)}="${String(of)}"`,
      );
      const end = `{${labels.toSorted().join(',')}}`;
      if (typeof value === 'number') series.push([name + end, value]);
      else if ('sum' in value) {
        series.push([`${name}_count${end}`, value.count], [`${name}_sum${end}`, value.sum!]);
      }
    }
  }
  return Object.fromEntries(series);
}
