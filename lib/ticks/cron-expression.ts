import { quoted } from '../core/text/printable.js';
import { redact } from '../core/text/redaction.js';
import { optionError } from '../core/options/option-error.js';

/** The hands of a clock and the calendar beside it, somewhere on earth. */
export interface WallTime {
  readonly second: number;
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  /** 1 is January. */
  readonly month: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

interface Field {
  readonly name: keyof WallTime;
  readonly low: number;
  readonly high: number;
}

/** Characters of an expression that are searched for secrets before the first of them are shown. */
const LONGEST_READ = 1_000;

const FIELDS: readonly Field[] = [
  { name: 'second', low: 0, high: 59 },
  { name: 'minute', low: 0, high: 59 },
  { name: 'hour', low: 0, high: 23 },
  { name: 'day', low: 1, high: 31 },
  { name: 'month', low: 1, high: 12 },
  { name: 'weekday', low: 0, high: 7 },
];

const PRESETS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 0 1 1 *',
  '@monthly': '0 0 0 1 * *',
  '@weekly': '0 0 0 * * 0',
  '@daily': '0 0 0 * * *',
  '@hourly': '0 0 * * * *',
  '@minutely': '0 * * * * *',
  '@secondly': '* * * * * *',
  '@weekdays': '0 0 0 * * 1-5',
  '@weekends': '0 0 0 * * 0,6',
};

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const NAMES = new Map([
  ...MONTHS.map((name, index) => [name, index + 1] as const),
  ...WEEKDAYS.map((name, index) => [name, index] as const),
]);

/** `5`, `5-10`, `5/10` or `5-10/2`, once `*` is a range. */
const RANGE = /^(\d+)(?:-(\d+))?(?:\/(\d+))?$/;

/**
 * Which seconds a cron expression means, as the package `cron` (4.x) reads it: five fields, or six with the seconds in front,
 * names of months and weekdays, presets such as `@daily`. Where both days are restricted, either of them will do.
 */
export class CronExpression {
  readonly #fields: Readonly<Record<keyof WallTime, ReadonlySet<number>>>;

  /** Throws `TypeError` for what is no cron expression. */
  constructor(readonly source: string) {
    const text = source.trim().toLowerCase();
    const texts = (Object.hasOwn(PRESETS, text) ? PRESETS[text]! : text).split(/\s+/);
    if (texts.length === 5) texts.unshift('0');
    if (texts.length !== 6) throw this.#wrong(`it has ${texts.length} fields`);
    const sets = FIELDS.map((field, index) => [field.name, this.#values(texts[index]!, field)]);
    this.#fields = Object.fromEntries(sets) as Record<keyof WallTime, ReadonlySet<number>>;
  }

  /** Whether this second of any minute may be meant. No time zone is off by seconds. */
  hasSecond(second: number): boolean {
    return this.#fields.second.has(second);
  }

  /** The first second of a minute that may be meant. */
  get firstSecond(): number {
    return Math.min(...this.#fields.second);
  }

  matches(time: WallTime): boolean {
    const { second, minute, hour, day, month, weekday } = this.#fields;
    const isTime = second.has(time.second) && minute.has(time.minute) && hour.has(time.hour);
    if (!isTime || !month.has(time.month)) return false;
    const [isDay, isWeekday] = [day.has(time.day), weekday.has(time.weekday)];
    const areBothRestricted = day.size < 31 && weekday.size < 7;
    return areBothRestricted ? isDay || isWeekday : isDay && isWeekday;
  }

  #values(text: string, field: Field): ReadonlySet<number> {
    const numbers = text
      .replaceAll('*', `${field.low}-${field.high}`)
      .replaceAll(/[a-z]+/g, (name) => String(NAMES.get(name) ?? name));
    const values = new Set<number>();
    for (const range of numbers.split(',')) {
      const [, from, to, step] = RANGE.exec(range) ?? [];
      const low = Number(from);
      const high = to ? Number(to) : step ? field.high : low;
      const isFine = low >= field.low && low <= high && high <= field.high && step !== '0';
      if (!isFine) throw this.#wrong(`${quoted(text)} is no ${field.name}`);
      for (let value = low; value <= high; value += Number(step ?? 1)) {
        values.add(field.name === 'weekday' ? value % 7 : value);
      }
    }
    return values;
  }

  #wrong(why: string): TypeError {
    return optionError(
      `not a cron expression: ${quoted(redact(this.source.slice(0, LONGEST_READ)))}: ${why}`,
    );
  }
}
