import { barChart } from './bar-chart.mjs';
import { LIBRARIES, figureOf } from './comparison.mjs';

const WAITING = /want one key$/;

/** The table of users as two pictures: how long callers wait, and what locks cost. */
export function drawComparison(comparison) {
  return [
    chart('waiting.svg', 'Until every caller has had the key, in ms (shorter is better)', {
      rows: comparison.filter(({ what }) => WAITING.test(what)),
      labelOf: ({ what }) => what,
    }),
    chart('cost.svg', 'What locks cost', {
      rows: comparison.filter(({ what }) => !WAITING.test(what)),
      labelOf: ({ what, unit, most }) =>
        `${what}: ${unit} (${most ? 'longer' : 'shorter'} is better)`,
    }),
  ].filter(Boolean);
}

function chart(file, title, { rows, labelOf }) {
  if (rows.length === 0) return undefined;
  const panels = rows.map((row) => ({ label: labelOf(row), bars: barsOf(row) }));
  return { file, title, svg: barChart({ title, panels }) };
}

function barsOf({ cells, all }) {
  return cells.flatMap((cell, index) => {
    if (!cell) return [];
    const { name } = LIBRARIES[index];
    return { name, colour: colourOf(name), value: cell.value, figure: figureOf(cell, all) };
  });
}

/** Both versions of redlock are one library here. */
function colourOf(name) {
  return name === 'redlock' ? 'redlock 4' : name;
}
