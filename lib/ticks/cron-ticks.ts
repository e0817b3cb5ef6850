import { CronExpression } from './cron-expression.js';
import { changeBetween, offsetIn, wallTime } from './tick-zone.js';
import type { ClockChange, OffsetAt, TickZone } from './tick-zone.js';

const SECOND = 1_000;
/** Schedulers are wrong by an hour at most around a change of the clocks. Zones are two hours apart where they change most. */
const AROUND_A_CHANGE = 3 * 3_600_000;

/** The times that a cron expression means in a zone. Moments are milliseconds since 1970, at whole seconds. */
export class CronTicks {
  readonly #cron: CronExpression;
  readonly #offsetAt: OffsetAt;

  /** Throws `TypeError` for what is no cron expression, `RangeError` for an unknown zone. */
  constructor(expression: string, zone: TickZone) {
    this.#cron = new CronExpression(expression);
    this.#offsetAt = offsetIn(zone);
  }

  /**
   * The last time that is due at `moment`, and not longer than `within` ms ago. Times that the clocks skip are due at
   * the first moment after the gap: at the first second of the expression, in the first minute.
   *
   * Beside a change of the clocks also a time that would be due by the clocks of before it, or by those of after it: the package
   * `cron` calls some jobs then, in the southern summer those of the gap, and around the end of summer others an hour early.
   */
  lastDue(moment: number, within: number): number | undefined {
    const from = moment - within;
    const change = changeBetween(this.#offsetAt, from - AROUND_A_CHANGE, moment + AROUND_A_CHANGE);
    if (!change) {
      const offset = this.#offsetAt(moment);
      return this.#last(moment, from, (time) => this.#means(time, offset));
    }
    const { before, after } = change;
    return (
      this.#last(moment, from, (time) => this.#isDue(time, change)) ??
      this.#last(moment, from, (time) => this.#means(time, before) || this.#means(time, after))
    );
  }

  #last(to: number, from: number, isDue: (time: number) => boolean): number | undefined {
    for (let time = to; time >= from; time -= SECOND) if (isDue(time)) return time;
    return undefined;
  }

  #isDue(time: number, { at, before, after }: ClockChange): boolean {
    if (this.#means(time, time < at ? before : after)) return true;
    if (time !== at + this.#cron.firstSecond * SECOND) return false;
    const gap = after - before;
    return (
      this.#last(at + gap - SECOND, at, (skipped) => this.#means(skipped, before)) !== undefined
    );
  }

  /** No zone is off by seconds. */
  #means(time: number, offset: number): boolean {
    return this.#cron.hasSecond((time / SECOND) % 60) && this.#cron.matches(wallTime(time, offset));
  }
}
