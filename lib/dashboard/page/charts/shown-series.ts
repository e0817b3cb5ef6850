import type { Charts, ChartSeries } from '../../api.js';

/** A series with the colour that it keeps while it is shown: a number of the palette in the style sheet. */
export interface ShownSeries extends ChartSeries {
  readonly colour: number;
  readonly label: string;
}

const COLOURS = [0, 1, 2, 3, 4, 5];
const kept = new Map<string, number>();

/** The series that are drawn: that of the chosen name or, of all, the busiest. */
export function shownSeries({ series }: Charts, name: string | undefined): ShownSeries[] {
  const chosen = series.filter((each) => !each.isOthers && each.name === name);
  const shown = name === undefined ? busiest(series) : chosen;
  const ids = new Set(shown.map(idOf));
  for (const id of kept.keys()) if (!ids.has(id)) kept.delete(id);
  return shown
    .map((each) => ({ ...each, colour: colourOf(idOf(each)), label: labelOf(each) }))
    .toSorted((a, b) => a.label.localeCompare(b.label));
}

function busiest(series: readonly ChartSeries[]): ChartSeries[] {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const calls = new Map(series.map((each) => [each, sum(each.grants) + sum(each.refusals)]));
  const used = series.filter((each) => calls.get(each)! > 0);
  return used.toSorted((a, b) => calls.get(b)! - calls.get(a)!).slice(0, COLOURS.length);
}

function colourOf(id: string): number {
  const taken = [...kept.values()];
  const colour = kept.get(id) ?? COLOURS.find((each) => !taken.includes(each)) ?? 0;
  kept.set(id, colour);
  return colour;
}

function idOf({ name, isOthers }: ChartSeries): string {
  return isOthers ? 'others' : `name ${name}`;
}

function labelOf({ name, isOthers }: ChartSeries): string {
  return isOthers ? 'others' : name || 'without a name';
}
