import { median } from './stats.mjs';

/** What must not happen counts even when it happened in one round only. */
const WORST = new Set([
  'overlaps',
  'lost',
  'told lost',
  'failed',
  'failed releases',
  'errors',
  'stuck',
  'unhandled',
]);

/**
 * One row per candidate: medians over the quieter half of its rounds (three at least). Every `ratios` field also gets a
 * `field/raw`: the median of the ratios to the raw client measured next to the sample (`sample.pair`) or in the same round.
 */
export function summarise(samples, candidates, { ratios = [] } = {}) {
  return candidates.flatMap((candidate) => {
    const { name, library, variant, raw } = candidate;
    const own = samples.filter((sample) => sample.name === name);
    if (own.length === 0) return [];
    const row = { name, library, variant };
    const kept = quieter(own, (sample) => sample.noise ?? 0);
    for (const field of Object.keys(own[0])) {
      if (field === 'pair' || field in row) continue;
      row[field] = valueOf(field, field === 'noise' || WORST.has(field) ? own : kept);
    }
    const pairs = own
      .map((sample) => [sample, sample.pair ?? rawOf(samples, raw, sample.round)])
      .filter(([, reference]) => reference);
    const keptPairs = quieter(pairs, ([sample, other]) => (sample.noise ?? 0) + (other.noise ?? 0));
    for (const field of ratios) {
      row[`${field}/raw`] = median(
        keptPairs.map(([sample, other]) => sample[field] / other[field]),
      );
    }
    row.rounds = own.length;
    return [row];
  });
}

function valueOf(field, samples) {
  const values = samples.map((sample) => sample[field]);
  if (WORST.has(field)) return Math.max(...values);
  if (typeof values[0] === 'number') return median(values);
  return values.find(Boolean) ?? '';
}

const rawOf = (samples, raw, round) =>
  samples.find((sample) => sample.name === raw && sample.round === round);

function quieter(list, noiseOf) {
  if (list.length <= 3) return list;
  const count = Math.max(3, Math.ceil(list.length / 2));
  return list.toSorted((a, b) => noiseOf(a) - noiseOf(b)).slice(0, count);
}
