import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { formatTime } from '../text/format.js';
import { chartWords, readingAt } from './chart-kinds.js';
import type { ChartKind, ChartLine } from './chart-kinds.js';
import { HEIGHT, plotOptions } from './plot-options.js';
import type { ShownSeries } from './shown-series.js';
import { useScheme } from './use-scheme.js';

interface ChartProps {
  readonly kind: ChartKind;
  readonly times: readonly number[];
  readonly series: readonly ShownSeries[];
}

/** One chart, and below its title what it says at the point of time below the pointer, or last. */
export function Chart({ kind, times, series }: ChartProps) {
  const lines = kind.lines(series);
  const [index, setIndex] = useState<number | null | undefined>();
  const place = usePlot(kind, times, lines, setIndex);
  const at = typeof index === 'number' && index < times.length ? index : times.length - 1;
  return (
    <figure>
      <figcaption>
        <b>{kind.title}</b>
        <span class="reading">
          {lines.length > 0 &&
            `${formatTime(times[at]! * 1_000)} · ${readingAt(lines, at, kind.format)}`}
        </span>
      </figcaption>
      <div class="plot" ref={place} role="img" aria-label={chartWords(kind, series)}>
        {series.length === 0 && <p class="muted">No call in the last 10 minutes</p>}
      </div>
    </figure>
  );
}

/** A plot that is made anew when its lines are other ones, and otherwise only gets their new points. */
function usePlot(
  kind: ChartKind,
  times: readonly number[],
  lines: readonly ChartLine[],
  pointAt: (index: number | null | undefined) => void,
) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = [times, ...lines.map(({ values }) => values)] as unknown as uPlot.AlignedData;
  const look = `${useScheme()} ${lines.map(({ label, colour }) => `${colour} ${label}`).join('\n')}`;
  useEffect(() => {
    if (lines.length === 0) return undefined;
    const width = place.current!.clientWidth;
    const made = new uPlot(plotOptions({ kind, lines, width, pointAt }), data, place.current!);
    const sizes = new ResizeObserver(() =>
      made.setSize({ width: place.current?.clientWidth ?? width, height: HEIGHT }),
    );
    sizes.observe(place.current!);
    plot.current = made;
    return () => {
      sizes.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [look]);
  useEffect(() => plot.current?.setData(data), [times, look]);
  return place;
}
