import type { Charts } from '../../api.js';
import { refilter } from '../live/route.js';
import type { Go, Route } from '../live/route.js';
import { Foreign, readerWords } from '../text/words.js';
import { CHART_KINDS } from './chart-kinds.js';
import { Chart } from './chart.js';
import { shownSeries } from './shown-series.js';
import type { ShownSeries } from './shown-series.js';

interface ChartStripProps {
  readonly charts: Charts;
  readonly reader: string;
  readonly route: Route;
  readonly go: Go;
}

/** The calls of the last minutes, for each name. A name in the legend chooses it, for the list, too. */
export function ChartStrip({ charts, reader, route, go }: ChartStripProps) {
  const shown = shownSeries(charts, route.name);
  const choose = (name: string) => refilter(go, { name: route.name === name ? undefined : name });
  const missing = route.name === undefined ? charts.series.length - shown.length : 0;
  return (
    <section class="charts" aria-label="Calls of the last 10 minutes">
      <div class="strip">
        {CHART_KINDS.map((kind) => (
          <Chart key={kind.title} kind={kind} times={charts.times} series={shown} />
        ))}
      </div>
      <p class="legend">
        {shown.map((each) => (
          <LegendEntry
            key={each.label}
            series={each}
            isChosen={route.name === each.name}
            choose={choose}
          />
        ))}
        <span class="muted">
          {missing > 0 && `and ${missing} less busy. `}
          Calls of this process, <Foreign text={readerWords(reader)} />, last 10 minutes
        </span>
      </p>
    </section>
  );
}

interface LegendEntryProps {
  readonly series: ShownSeries;
  readonly isChosen: boolean;
  readonly choose: (name: string) => void;
}

function LegendEntry({ series, isChosen, choose }: LegendEntryProps) {
  const { label, name, colour, isOthers } = series;
  const isOne = !isOthers && name !== '';
  return (
    <button
      type="button"
      class={`chip colour-${colour}`}
      aria-pressed={isOne ? isChosen : undefined}
      disabled={!isOne}
      onClick={() => choose(name)}
    >
      <Foreign text={label} />
    </button>
  );
}
