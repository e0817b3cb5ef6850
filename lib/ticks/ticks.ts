import { DEFAULT_LOCK_OPTIONS } from '../core/options/lock-options.js';
import type { LockOptions } from '../core/options/lock-options.js';
import { named } from '../core/options/lock-name.js';
import { checkName } from '../core/options/option-values.js';
import { aFunction, aWhole } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';
import { CronTicks } from './cron-ticks.js';
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

const A_DAY = 86_400_000;

export const TICKS_RULES: OptionRules<TicksOptions> = {
  tolerance: aWhole('ms', { from: 0, to: A_DAY }),
  now: aFunction,
};

const DEFAULT_TOLERANCE = 30_000;
/** Node's timers, and so intervals, reach no further. */
const LONGEST = 2_147_483_647;
const anInterval = aWhole('ms', { from: 1 });
/** A timer may fire a little before the clock shows its time. */
const EARLY = 10;

/** Schedulers go by the time of day, and follow when it is set, of which the `Clock` of locks says nothing. */
const timeOfDay = () => new Date().valueOf();

/** The tick that a call belongs to. */
export interface Tick {
  /** `nightly@2026-11-21T02:00:00.000Z`: the same on every machine, by whose clock it is the same tick. */
  readonly key: string;
  /** `false`: no time of the schedule is as near, so the key has the second of the call, and is another one in the next second. */
  readonly isScheduled: boolean;
}

interface Due {
  /** `undefined`: when the process started, which has no time. */
  readonly at: number | undefined;
  readonly isScheduled: boolean;
}

/** The ticks of one job: which one is due now, and how it is locked. */
export class Ticks {
  /** One attempt: a tick that is taken counts as handled. It is not granted again, however soon its job ends or crashes. */
  readonly options: LockOptions;
  readonly name: string;
  readonly #now: () => number;
  readonly #due: (now: number) => Due;

  /** Throws `TypeError` or `RangeError` naming what is wrong. */
  constructor(name: string, schedule: TickSchedule, options: TicksOptions = {}) {
    const { tolerance = DEFAULT_TOLERANCE, now = timeOfDay } = options;
    checkName('a tick', name);
    this.name = name;
    this.#now = now;
    this.#due = dueTimes(schedule, tolerance);
    const length = schedule.kind === 'interval' ? schedule.ms : 0;
    const hold = Math.min(length + tolerance, LONGEST);
    const ttl = Math.max(hold, DEFAULT_LOCK_OPTIONS.ttl);
    const whatever = { autoExtend: true, maxHold: Infinity, reentrant: false }; // the defaults are those of other locks
    this.options = Object.freeze({ ...named(whatever, name), waitTimeout: 0, minHold: hold, ttl });
  }

  /** That of `tick`. */
  get key(): string {
    return this.tick.key;
  }

  /** Of a call that is made now. */
  get tick(): Tick {
    const { at, isScheduled } = this.#due(this.#now());
    const time = at === undefined ? 'start' : new Date(at).toISOString();
    return { key: `${this.name}@${time}`, isScheduled };
  }
}

/** When the tick was due that a call belongs to. */
function dueTimes(schedule: TickSchedule, tolerance: number): (now: number) => Due {
  const scheduled = (at: number | undefined) => ({ at, isScheduled: true });
  switch (schedule.kind) {
    case 'cron':
      return cronTimes(schedule, tolerance);
    case 'interval':
      anInterval('the interval of a tick', schedule.ms);
      return (now) => scheduled(floor(now, schedule.ms));
    case 'date':
      return () => scheduled(schedule.at);
    default:
      return () => scheduled(undefined);
  }
}

/** The last time that the expression means, or the second of the call where there is none within the tolerance. */
function cronTimes(
  { expression, ...zone }: TickZone & { readonly expression: string },
  tolerance: number,
): (now: number) => Due {
  const ticks = new CronTicks(expression, zone);
  return (now) => {
    const second = floor(now + EARLY, 1_000);
    const at = ticks.lastDue(second, tolerance);
    return { at: at ?? second, isScheduled: at !== undefined };
  };
}

function floor(time: number, unit: number): number {
  return Math.floor(time / unit) * unit;
}
