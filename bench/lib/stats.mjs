export function quantile(values, q) {
  if (values.length === 0) return NaN;
  const sorted = Float64Array.from(values).sort();
  const position = (sorted.length - 1) * q;
  const below = Math.floor(position);
  const above = Math.ceil(position);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
}

export const median = (values) => quantile(values.filter(Number.isFinite), 0.5);

/** The mean without the lowest and the highest eighth. */
export function middleMean(values) {
  const sorted = Float64Array.from(values).sort();
  const eighth = sorted.length >> 3;
  const middle = [...sorted.subarray(eighth, sorted.length - eighth)];
  return sum(middle) / middle.length;
}

export const sum = (values) => values.reduce((total, value) => total + value, 0);

/** Spearman's rank correlation of two orders of the same ids. 1: first come, first served; 0: random. */
export function rankCorrelation(requested, granted) {
  const n = granted.length;
  if (n < 3) return NaN;
  const isGranted = new Set(granted);
  const rank = new Map(requested.filter((id) => isGranted.has(id)).map((id, index) => [id, index]));
  const squares = sum(granted.map((id, index) => (rank.get(id) - index) ** 2));
  return 1 - (6 * squares) / (n * (n * n - 1));
}

/** Jain's fairness index. 1: everyone got the same; 1/n: one got everything. */
export function jain(counts) {
  const squares = sum(counts.map((count) => count * count));
  return squares ? sum(counts) ** 2 / (counts.length * squares) : NaN;
}
