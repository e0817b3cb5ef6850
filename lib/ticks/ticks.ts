import { DEFAULT_LOCK_OPTIONS } from '../core/lock-options.js';
import type { LockOptions } from '../core/lock-options.js';
import { checkName, show } from '../core/option-values.js';
import { CronExpression } from './cron-expression.js';
import { clockOf } from './tick-zone.js';
import type { TickZone } from './tick-zone.js';

/**
 * - `cron`: the seconds that an expression means
 * - `interval`: every so many milliseconds, counted from 1970, for intervals begin when a process does
 * - `date`: one moment, in milliseconds since 1970
 * - `start`: when the processes start, which no clock tells
 */
export type TickSchedule =
  | ({ readonly kind: 'cron'; readonly expression: string } & TickZone)
  | { readonly kind: 'interval'; readonly ms: number }
  | { readonly kind: 'date'; readonly at: number }
  | { readonly kind: 'start' };

export interface TicksOptions {
  /**
   * How much later than the first machine another one may ask for the same tick, in milliseconds: how far their clocks are
   * apart, and how late a busy one is. The key of a tick stays taken for so long. At most a day.
   * @default 30_000
   */
  readonly tolerance?: number | undefined;
  /**
   * For tests: the time of day of this machine, in milliseconds since 1970.
   * @default the machine's clock, with every change that is made to it
   */
  readonly now?: (() => number) | undefined;
}

const DEFAULT_TOLERANCE = 30_000;
const A_DAY = 86_400_000;
/** Node's timers, and so intervals, reach no further. */
const LONGEST = 2_147_483_647;
/** A timer may fire a little before the clock shows its time. */
const EARLY = 10;

/** Schedulers go by the time of day, and follow when it is set; the `Clock` of locks does neither. */
const timeOfDay = () => new Date().valueOf();

/** The ticks of one job: which one is due now, and how it is locked. */
export class Ticks {
  /** One attempt, for a tick that somebody has is done; and nobody gets it again, however soon the job ends or dies. */
  readonly options: LockOptions;
  readonly #name: string;
  readonly #now: () => number;
  readonly #due: (now: number) => number | undefined;

  /** Throws `TypeError` or `RangeError` naming what is wrong. */
  constructor(name: string, schedule: TickSchedule, options: TicksOptions = {}) {
    const { tolerance = DEFAULT_TOLERANCE, now = timeOfDay } = options;
    checkName('a tick', name);
    checkWhole('tolerance', tolerance, 0, A_DAY);
    this.#name = name;
    this.#now = now;
    this.#due = dueTimes(schedule, tolerance);
    const length = schedule.kind === 'interval' ? schedule.ms : 0;
    const hold = Math.min(length + tolerance, LONGEST);
    const ttl = Math.max(hold, DEFAULT_LOCK_OPTIONS.ttl);
    const whatever = { autoExtend: true, maxHold: Infinity }; // the defaults are those of other locks
    this.options = Object.freeze({ ...whatever, waitTimeout: 0, minHold: hold, ttl });
  }

  /** `nightly@2026-11-21T02:00:00.000Z`: the same on every machine, by whose clock it is the same tick. */
  get key(): string {
    const due = this.#due(this.#now());
    return `${this.#name}@${due === undefined ? 'start' : new Date(due).toISOString()}`;
  }
}

/** When the tick was due that a call belongs to. */
function dueTimes(schedule: TickSchedule, tolerance: number): (now: number) => number | undefined {
  switch (schedule.kind) {
    case 'cron':
      return cronTimes(schedule, tolerance);
    case 'interval':
      checkWhole('the interval of a tick', schedule.ms, 1, LONGEST);
      return (now) => floor(now, schedule.ms);
    case 'date':
      return () => schedule.at;
    default:
      return () => undefined;
  }
}

/** The last time that the expression means, or the second of the call where there is none within the tolerance. */
function cronTimes(
  { expression, ...zone }: TickZone & { readonly expression: string },
  tolerance: number,
): (now: number) => number {
  const cron = new CronExpression(expression);
  const clock = clockOf(zone);
  return (now) => {
    const second = floor(now + EARLY, 1_000);
    for (let time = second; time >= second - tolerance; time -= 1_000) {
      if (cron.hasSecond((time / 1_000) % 60) && cron.matches(clock(time))) return time;
    }
    return second;
  };
}

function floor(time: number, unit: number): number {
  return Math.floor(time / unit) * unit;
}

function checkWhole(name: string, value: unknown, from: number, to: number): void {
  if (Number.isInteger(value) && (value as number) >= from && (value as number) <= to) return;
  throw new RangeError(
    `${name} must be a whole number of ms from ${from} to ${to}, got ${show(value)}`,
  );
}
