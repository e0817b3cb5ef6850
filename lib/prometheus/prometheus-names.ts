import type { Attributes, Metric } from '../metrics/definitions.js';

/** As the exporters of OpenTelemetry name it: `holdfast_lock_acquire_duration_seconds`. */
export function prometheusName({ name, unit, kind }: Metric): string {
  return labelOf(name) + (unit === 's' ? '_seconds' : '') + (kind === 'counter' ? '_total' : '');
}

export function labelOf(attribute: string): string {
  return attribute.replaceAll('.', '_');
}

export function labelsOf(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributes).map(([attribute, value]) => [labelOf(attribute), value]),
  );
}
