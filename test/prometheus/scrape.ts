import type { Registry } from 'prom-client';

/** The samples of a scrape, by `name{label="value",…}`, labels in alphabetical order, without those of the Node process. */
export async function scrape(register: Registry): Promise<Record<string, number>> {
  const lines = (await register.metrics()).split('\n').filter((line) => /^\w/.test(line));
  return Object.fromEntries(lines.map(seriesOf));
}

function seriesOf(line: string): [series: string, value: number] {
  const [, name, , labels = '', value] = /^(\w+)(\{(.*)\})? (\S+)$/.exec(line)!;
  const sorted = [...labels.matchAll(/\w+="[^"]*"/g)].map(String).toSorted();
  return [`${name}{${sorted.join(',')}}`, Number(value)];
}

/** Those of one metric. */
export async function seriesOfMetric(
  register: Registry,
  metric: string,
): Promise<Record<string, number>> {
  const all = Object.entries(await scrape(register));
  return Object.fromEntries(all.filter(([series]) => series.startsWith(`${metric}{`)));
}
