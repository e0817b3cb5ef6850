import { colourOf, line, path, short, svg, text } from './svg.mjs';

const HEIGHT = 440;
const PLOT = { left: 70, right: 590, top: 62, bottom: 380 };

/** `series`: `[{ name, points: [[x, y], …] }]`, on logarithmic scales. */
export function lineChart({ title, xLabel, yLabel, series }) {
  const points = series.flatMap((each) => each.points);
  const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
  const x = scale(xs[0], xs.at(-1), PLOT.left + 10, PLOT.right - 10);
  const ys = points.map(([, value]) => value);
  const [low, high] = decades(Math.min(...ys), Math.max(...ys));
  const y = scale(low, high, PLOT.bottom, PLOT.top);
  return svg(HEIGHT, title, [
    ...yAxis(low, high, y),
    ...xs.map((value) => text(x(value), PLOT.bottom + 20, short(value), { anchor: 'middle' })),
    text((PLOT.left + PLOT.right) / 2, PLOT.bottom + 44, xLabel, { anchor: 'middle' }),
    text(16, PLOT.top - 14, yLabel),
    ...series.toReversed().map((each) => trace(each, x, y)), // ours is on top
    ...legend(series),
  ]);
}

function trace({ name, points }, x, y) {
  const width = name.startsWith('nest-holdfast') ? 3 : 1.5;
  const placed = points.map(([across, up]) => [x(across), y(up)]);
  return path(placed, { stroke: colourOf(name), width });
}

function yAxis(low, high, y) {
  const ticks = [];
  for (let tick = low; tick <= high * 1.001; tick *= 10) ticks.push(tick);
  return ticks.flatMap((tick) => [
    line(PLOT.left, y(tick), PLOT.right, y(tick)),
    text(PLOT.left - 8, y(tick) + 4, short(tick), { anchor: 'end' }),
  ]);
}

/** In the order of the last points, highest first, as the lines end. */
function legend(series) {
  const lastOf = ({ points }) => points.at(-1)[1];
  return series
    .toSorted((a, b) => lastOf(b) - lastOf(a))
    .flatMap(({ name, points }, index) => {
      const y = PLOT.top + 20 + index * 24;
      const stroke = colourOf(name);
      const label = `${name}: ${short(points.at(-1)[1])}`;
      return [
        line(PLOT.right + 20, y - 4, PLOT.right + 44, y - 4, { stroke, width: 3 }),
        text(PLOT.right + 50, y, label, { size: 11 }),
      ];
    });
}

function scale(from, to, start, end) {
  const span = Math.log(to) - Math.log(from) || 1;
  return (value) => start + ((Math.log(value) - Math.log(from)) / span) * (end - start);
}

function decades(low, high) {
  const down = 10 ** Math.floor(Math.log10(low));
  return [down, Math.max(down * 10, 10 ** Math.ceil(Math.log10(high)))];
}
