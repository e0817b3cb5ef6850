import type { WallTime } from './cron-expression.js';

/** Where a cron expression is read. Neither: in the zone of the process. */
export interface TickZone {
  /** A name of the IANA list, such as `Europe/Berlin`. */
  readonly timeZone?: string | null | undefined;
  /** Minutes that the clocks are ahead of UTC. Goes before `timeZone`. */
  readonly utcOffset?: number | null | undefined;
}

/** What `cron` takes for the zone of the process, and for an offset: `UTC+2`, `utc+05:30`. */
const LOCAL = /^(local|system|default)$/i;
const OFFSET = /^utc([+-])(\d{1,2})(?::(\d\d))?$/i;

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** What the clocks of a zone show at a moment, given in milliseconds since 1970. Throws `RangeError` for an unknown zone. */
export function clockOf({ timeZone, utcOffset }: TickZone): (moment: number) => WallTime {
  const offset = utcOffset ?? offsetIn(timeZone);
  if (typeof offset === 'number') return (moment) => utcTime(moment + offset * 60_000);
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timeZone && !LOCAL.test(timeZone) ? timeZone : undefined,
    hourCycle: 'h23',
    weekday: 'short',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (moment) => {
    const parts = format.formatToParts(moment).map(({ type, value }) => [type, value] as const);
    const shown = Object.fromEntries(parts) as Record<keyof WallTime, string>;
    return {
      second: Number(shown.second),
      minute: Number(shown.minute),
      hour: Number(shown.hour),
      day: Number(shown.day),
      month: Number(shown.month),
      weekday: WEEKDAYS.indexOf(shown.weekday),
    };
  };
}

/** Minutes. */
function offsetIn(timeZone: string | null | undefined): number | undefined {
  const [, sign, hours, minutes = 0] = OFFSET.exec(timeZone ?? '') ?? [];
  if (hours === undefined) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

function utcTime(moment: number): WallTime {
  const date = new Date(moment);
  return {
    second: date.getUTCSeconds(),
    minute: date.getUTCMinutes(),
    hour: date.getUTCHours(),
    day: date.getUTCDate(),
    month: date.getUTCMonth() + 1,
    weekday: date.getUTCDay(),
  };
}
