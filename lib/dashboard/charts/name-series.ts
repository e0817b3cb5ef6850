import type { ChartSeries } from '../api.js';
import { WaitHistogram } from './wait-histogram.js';

/** Points of a chart: 10 minutes. */
export const POINTS = 120;
/** Seconds for one point. */
export const SECONDS = 5;

/** Grants, refusals and waits of the locks with one name. */
export class NameSeries {
  readonly #grants = new Float64Array(POINTS);
  readonly #refusals = new Float64Array(POINTS);
  readonly #p50 = new Float64Array(POINTS).fill(NaN);
  readonly #p99 = new Float64Array(POINTS).fill(NaN);
  /** Of the point that has not ended. */
  readonly #waits = new WaitHistogram();
  #granted = 0;
  #refused = 0;
  /** The last point in which something happened. */
  #busyAt = -Infinity;

  grant(waited: number): void {
    this.#granted++;
    this.#waits.add(waited);
  }

  refuse(): void {
    this.#refused++;
  }

  /** Ends the point with this number. The points before were ended, too. */
  end(point: number): void {
    const at = point % POINTS;
    if (this.#granted + this.#refused > 0) this.#busyAt = point;
    this.#grants[at] = this.#granted / SECONDS;
    this.#refusals[at] = this.#refused / SECONDS;
    this.#p50[at] = this.#waits.quantile(0.5);
    this.#p99[at] = this.#waits.quantile(0.99);
    this.#granted = this.#refused = 0;
    this.#waits.clear();
  }

  /** Nothing happened in the points that a chart has. */
  isSilentAt(point: number): boolean {
    return this.#granted + this.#refused === 0 && this.#busyAt < point - POINTS;
  }

  /** `points` are numbers of points that have ended. */
  chart(name: string, isOthers: boolean, points: readonly number[]): ChartSeries {
    const of = (values: Float64Array) => points.map((point) => rounded(values[point % POINTS]!));
    const orNull = (values: Float64Array) => of(values).map((value) => (value >= 0 ? value : null));
    return {
      name,
      isOthers,
      grants: of(this.#grants),
      refusals: of(this.#refusals),
      waitP50: orNull(this.#p50),
      waitP99: orNull(this.#p99),
    };
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
