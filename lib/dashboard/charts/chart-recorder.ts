import { timeOfDay } from '../../core/async/clock.js';
import type { LockEvents } from '../../core/events/lock-events.js';
import type { LockAttemptEvent } from '../../core/events/attempt-events.js';
import type { Charts, ChartSeries } from '../api.js';
import { NameSeries, POINTS, SECONDS } from './name-series.js';

/** Names that have a series of their own at the same time. */
const MOST_NAMES = 20;

/**
 * Counts grants, refusals and waits by the names of locks, from the events of a service. Its size is bounded: names beyond the
 * first 20 share a series, and a name that is silent for 10 minutes makes room.
 */
export class ChartRecorder {
  readonly #events: LockEvents;
  readonly #now: () => number;
  readonly #series = new Map<string, NameSeries>();
  readonly #others = new NameSeries();
  readonly #from: number;
  /** The number of the point that has not ended: the time in units of 5 s. */
  #point: number;

  /** `now` gives milliseconds since 1970, and never goes back. */
  constructor(events: LockEvents, now: () => number = timeOfDay) {
    this.#events = events;
    this.#now = now;
    this.#from = this.#point = this.#pointNow();
    events.on('held', this.#granted);
    events.on('refused', this.#refused);
    events.on('timeout', this.#refused);
  }

  close(): void {
    this.#events.off('held', this.#granted);
    this.#events.off('refused', this.#refused);
    this.#events.off('timeout', this.#refused);
  }

  /** Of the points that have ended. */
  charts(): Charts {
    this.#advance();
    const first = Math.max(this.#from, this.#point - POINTS);
    const points = Array.from({ length: this.#point - first }, (_, index) => first + index);
    const series: ChartSeries[] = [];
    for (const [name, each] of this.#series) series.push(each.chart(name, false, points));
    if (!this.#others.isSilentAt(this.#point)) series.push(this.#others.chart('', true, points));
    return { times: points.map((point) => point * SECONDS), series };
  }

  get names(): readonly string[] {
    return [...this.#series.keys()];
  }

  readonly #granted = ({ name, waited }: LockAttemptEvent): void => {
    this.#advance();
    this.#of(name).grant(waited);
  };

  readonly #refused = ({ name }: LockAttemptEvent): void => {
    this.#advance();
    this.#of(name).refuse();
  };

  #of(name = ''): NameSeries {
    const known = this.#series.get(name);
    if (known) return known;
    if (this.#series.size >= MOST_NAMES) return this.#others;
    const series = new NameSeries();
    this.#series.set(name, series);
    return series;
  }

  #advance(): void {
    const now = this.#pointNow();
    if (now === this.#point) return;
    // After a long pause only the end of it is in the charts.
    for (let point = Math.max(this.#point, now - POINTS - 1); point < now; point++) {
      for (const series of [...this.#series.values(), this.#others]) series.end(point);
    }
    this.#point = now;
    for (const [name, series] of this.#series) {
      if (series.isSilentAt(now)) this.#series.delete(name);
    }
  }

  #pointNow(): number {
    return Math.floor(this.#now() / (SECONDS * 1_000));
  }
}
