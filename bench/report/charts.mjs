import { barChart } from './bar-chart.mjs';
import { lineChart } from './line-chart.mjs';

/** The charts that the results have data for. */
export function drawCharts(results) {
  const byWaiters = tablesOf(results, 'contended-', 'waiters');
  const byConcurrency = tablesOf(results, 'uncontended-', 'concurrency');
  const redlocks = tablesOf(results, 'redlock-uncontended-', 'concurrency');
  const charts = [
    paced(results.paced),
    lines('hand-off.svg', byWaiters, 'hand-off p50', Math.min, {
      title: 'Hand-off: from release() to the next holder (median, ms; lower is better)',
      xLabel: 'waiters in one process',
      yLabel: 'ms',
    }),
    lines('commands-per-grant.svg', byWaiters, 'commands/grant', Math.min, {
      title: 'Commands sent per grant (lower is better)',
      xLabel: 'waiters in one process',
      yLabel: 'commands',
    }),
    lines('cycles.svg', byConcurrency, 'cycles/s', Math.max, {
      title: 'Locks taken and released per second (higher is better)',
      xLabel: 'concurrency, distinct keys',
      yLabel: 'cycles/s',
    }),
    lines('redlock-cycles.svg', redlocks, 'cycles/s', Math.max, {
      title: 'Locks taken and released per second on a majority of five servers (higher is better)',
      xLabel: 'concurrency, distinct keys',
      yLabel: 'cycles/s',
    }),
    held(results.renewal),
  ];
  return charts.filter(Boolean);
}

function tablesOf(results, prefix, field) {
  return Object.values(results)
    .filter(({ id }) => id.startsWith(prefix))
    .toSorted((a, b) => a[field] - b[field])
    .map((table) => ({ x: table[field], rows: table.rows }));
}

/** One line per library; each point is that of the better of its configurations. Ours are both drawn. */
function lines(file, tables, column, better, labels) {
  if (tables.length < 2) return undefined;
  const names = [...new Set(tables.flatMap(({ rows }) => rows.map(lineOf)))];
  const series = names.map((name) => {
    const points = tables.map(({ x, rows }) => {
      const values = rows.filter((row) => lineOf(row) === name).map((row) => row[column]);
      return [x, better(...values.filter((value) => value > 0))];
    });
    return { name, points: points.filter(([, value]) => Number.isFinite(value)) };
  });
  const drawn = series.filter(({ points }) => points.length > 0).toSorted(oursFirst);
  return { file, title: labels.title, svg: lineChart({ ...labels, series: drawn }) };
}

function lineOf({ library, variant }) {
  return variant === 'strict' ? `${library}, strict` : library;
}

function oursFirst(a, b) {
  return Number(b.name.startsWith('nest-holdfast')) - Number(a.name.startsWith('nest-holdfast'));
}

function paced(table) {
  if (!table) return undefined;
  const title =
    'A lock now and then, beside other work: median of a cycle against raw ioredis (lower is better)';
  const bars = table.rows
    .map((row) => ({ name: row.name, colour: row.library, value: row['p50 µs/raw'] ?? NaN }))
    .filter(({ value }) => Number.isFinite(value))
    .toSorted((a, b) => a.value - b.value);
  return {
    file: 'paced.svg',
    title,
    svg: barChart({ title, panels: [{ label: 'p50 of raw', bars }] }),
  };
}

function held(table) {
  if (!table) return undefined;
  const bars = (column) =>
    table.rows
      .map((row) => ({ name: row.name, colour: row.library, value: row[column] ?? NaN }))
      .filter(({ value }) => Number.isFinite(value))
      .toSorted((a, b) => a.value - b.value);
  const title = `The cost of ${table.locks} held locks of ttl ${table.ttl} ms (lower is better)`;
  const panels = [
    { label: "the client's share of one core, %", bars: bars('client %') },
    { label: 'commands per lock and ttl', bars: bars('commands/lock/ttl') },
    { label: "the server's share of one core, %", bars: bars('server %') },
  ];
  return { file: 'held-locks.svg', title, svg: barChart({ title, panels }) };
}
