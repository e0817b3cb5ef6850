import { a, aNumber } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';
import type { WallTime } from './cron-expression.js';

/** Where a cron expression is read. Neither: in the zone of the process. */
export interface TickZone {
  /** A name of the IANA list, such as `Europe/Berlin`. */
  readonly timeZone?: string | null | undefined;
  /** Minutes that the clocks are ahead of UTC. Goes before `timeZone`. */
  readonly utcOffset?: number | null | undefined;
}

export const ZONE_RULES: OptionRules<TickZone> = {
  timeZone: a(
    "the name of a time zone, such as 'Europe/Berlin'",
    (value) => value === null || typeof value === 'string',
  ),
  utcOffset: aNumber(
    'minutes, as a number',
    (value) => value === null || (typeof value === 'number' && Number.isFinite(value)),
  ),
};

/** How far the clocks of a zone are ahead of UTC at a moment. All in milliseconds, moments since 1970. */
export type OffsetAt = (moment: number) => number;

/** A night on which the clocks of a zone change. */
export interface ClockChange {
  /** The first moment of the new time. */
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

/** The names that `cron` takes for the zone of the process, and for an offset: `UTC+2`, `utc+05:30`. */
const LOCAL = /^(local|system|default)$/i;
const OFFSET = /^utc([+-])(\d{1,2})(?::(\d\d))?$/i;
const MINUTE = 60_000;

/** Throws `RangeError` for an unknown zone. */
export function offsetIn({ timeZone, utcOffset }: TickZone): OffsetAt {
  const fixed = utcOffset ?? fixedOffset(timeZone);
  if (typeof fixed === 'number') return () => fixed * MINUTE;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timeZone && !LOCAL.test(timeZone) ? timeZone : undefined,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (moment) => {
    const second = Math.floor(moment / 1_000) * 1_000;
    const parts = format.formatToParts(second).map(({ type, value }) => [type, Number(value)]);
    const { year, month, day, hour, minute, second: seconds } = Object.fromEntries(parts);
    return Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
  };
}

/** The change of the clocks between two moments that are a few days apart at most. */
export function changeBetween(
  offsetAt: OffsetAt,
  from: number,
  to: number,
): ClockChange | undefined {
  const [before, after] = [offsetAt(from), offsetAt(to)];
  if (before === after) return undefined;
  let [old, at] = [from, to].map((moment) => Math.floor(moment / 1_000)) as [number, number];
  while (at - old > 1) {
    const middle = Math.floor((old + at) / 2);
    if (offsetAt(middle * 1_000) === before) old = middle;
    else at = middle;
  }
  return { at: at * 1_000, before, after };
}

/** The wall time at `moment`, in a zone that is `offset` ms ahead of UTC. */
export function wallTime(moment: number, offset: number): WallTime {
  const date = new Date(moment + offset);
  return {
    second: date.getUTCSeconds(),
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
  };
}

/** Minutes. */
function fixedOffset(timeZone: string | null | undefined): number | undefined {
  const [, sign, hours, minutes = 0] = OFFSET.exec(timeZone ?? '') ?? [];
  if (hours === undefined) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
