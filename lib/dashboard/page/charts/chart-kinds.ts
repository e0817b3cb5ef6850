import { formatRate, formatWait } from '../text/format.js';
import type { ShownSeries } from './shown-series.js';

/** One line of a chart. */
export interface ChartLine {
  readonly label: string;
  readonly colour: number;
  readonly isDashed: boolean;
  readonly values: readonly (number | null)[];
}

export interface ChartKind {
  readonly title: string;
  readonly format: (value: number) => string;
  /** The least upper end of the axis, so that next to nothing does not look like much. */
  readonly least: number;
  readonly lines: (series: readonly ShownSeries[]) => ChartLine[];
}

export const CHART_KINDS: readonly ChartKind[] = [
  {
    title: 'Grants a second',
    format: formatRate,
    least: 1,
    lines: (series) => series.map((each) => lineOf(each, each.grants)),
  },
  {
    title: 'Waits: p99, and p50 dashed',
    format: formatWait,
    least: 10,
    lines: (series) => [
      ...series.map((each) => lineOf(each, each.waitP99, 'p99')),
      ...series.map((each) => lineOf(each, each.waitP50, 'p50')),
    ],
  },
  {
    title: 'Refusals a second',
    format: formatRate,
    least: 1,
    lines: (series) => series.map((each) => lineOf(each, each.refusals)),
  },
];

function lineOf(
  { label, colour }: ShownSeries,
  values: readonly (number | null)[],
  percentile = '',
): ChartLine {
  return { label: `${label} ${percentile}`.trim(), colour, isDashed: percentile === 'p50', values };
}

/** `order 12/s now, at most 40/s`: a chart in words, for screen readers. */
export function chartWords({ title, format, lines }: ChartKind, series: readonly ShownSeries[]) {
  const parts = lines(series).map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${label}: none`;
    return `${label}: last ${format(known.at(-1)!)}, at most ${format(Math.max(...known))}`;
  });
  return `${title}. ${parts.join('; ') || 'No call in the last 10 minutes'}`;
}

/** The values of the lines at one point of time, the highest first. Dashed ones only where there is room for them. */
export function readingAt(lines: readonly ChartLine[], index: number, format: ChartKind['format']) {
  const read = lines.filter(({ isDashed }) => !isDashed || lines.length <= 2);
  const known = read.flatMap(({ label, values }) => {
    const value = values[index];
    return value === null || value === undefined ? [] : [{ label, value }];
  });
  const sorted = known.toSorted((a, b) => b.value - a.value);
  return sorted.map(({ label, value }) => `${label} ${format(value)}`).join(' · ') || 'none';
}
