import type uPlot from 'uplot';
import type { ChartKind, ChartLine } from './chart-kinds.js';

export const HEIGHT = 120;
/** Seconds: the width of the charts, whether or not there are points for all of it. */
const SPAN = 10 * 60;
const SYNC = 'locks';
/** Pixels at the right end of a chart: half of a time below it. */
const ROOM_FOR_TIME = 16;

interface PlotParts {
  readonly kind: ChartKind;
  readonly lines: readonly ChartLine[];
  readonly width: number;
  /** Told the point of time below the pointer. */
  readonly pointAt: (index: number | null | undefined) => void;
}

/** Colours are read from the style sheet, so that they follow the scheme. */
export function plotOptions({ kind, lines, width, pointAt }: PlotParts): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    width,
    height: HEIGHT,
    padding: [8, ROOM_FOR_TIME, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: SYNC }, drag: { x: false, y: false }, y: false, points: { size: 5 } },
    scales: {
      x: { time: true, range: (_plot, _from, to) => [to - SPAN, to] },
      y: { range: (_plot, _from, to) => [0, Math.max(kind.least, to * 1.1)] },
    },
    axes: axesOf(kind, colour),
    series: [{}, ...lines.map((line) => seriesOf(line, colour))],
    hooks: { setCursor: [({ cursor }) => pointAt(cursor.idx)] },
  };
}

type Colour = (name: string) => string;

function axesOf({ format }: ChartKind, colour: Colour): uPlot.Axis[] {
  const shared: uPlot.Axis = {
    stroke: colour('--muted'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  const times = '{HH}:{mm}';
  return [
    { ...shared, grid: { show: false }, size: 24, gap: 4, space: 60, values: times },
    {
      ...shared,
      size: 58,
      gap: 6,
      space: 24,
      values: (_plot, values) => values.map((value) => format(value)),
    },
  ];
}

function seriesOf({ label, colour: number, isDashed }: ChartLine, colour: Colour): uPlot.Series {
  const look: uPlot.Series = isDashed ? { dash: [3, 3], width: 1 } : { width: 1.5 };
  const stroke = colour(`--chart-${number}`);
  return { ...look, label, stroke, points: { show: false, size: 3, fill: stroke, filter: lonely } };
}

/** The points without one beside them, to which no line leads: a lock that is taken now and then. */
function lonely({ data }: uPlot, series: number): number[] {
  const values = data[series]!;
  const has = (at: number) => typeof values[at] === 'number';
  return Array.from(values, (_, at) => at).filter((at) => has(at) && !has(at - 1) && !has(at + 1));
}
