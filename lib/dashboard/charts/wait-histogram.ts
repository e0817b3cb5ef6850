/** Buckets for each doubling of the time: a quantile is off by at most 9 %. */
const PER_DOUBLING = 4;
/** Milliseconds. Waits below are not told apart. */
const SMALLEST = 0.05;
/** The last one begins at 15 hours. */
const BUCKETS = 120;

/** How long calls waited, in logarithmic buckets: its size does not depend on their number. */
export class WaitHistogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;

  add(ms: number): void {
    const index = ms <= SMALLEST ? 0 : Math.floor(Math.log2(ms / SMALLEST) * PER_DOUBLING) + 1;
    this.#counts[Math.min(index, BUCKETS - 1)]!++;
    this.#total++;
  }

  /** In milliseconds: the middle of the bucket. `NaN` when nothing was added. */
  quantile(share: number): number {
    if (this.#total === 0) return NaN;
    const rank = Math.max(1, Math.ceil(this.#total * share));
    let seen = 0;
    const index = this.#counts.findIndex((count) => (seen += count) >= rank);
    return index <= 0 ? 0 : SMALLEST * 2 ** ((index - 0.5) / PER_DOUBLING);
  }

  clear(): void {
    if (this.#total > 0) this.#counts.fill(0);
    this.#total = 0;
  }
}
