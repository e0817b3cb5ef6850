const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const NUMBERS = new Intl.NumberFormat('en');
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', hourCycle: 'h23' });
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** `1,204`. */
export function formatCount(count: number): string {
  return NUMBERS.format(count);
}

/** `1 waiter`, `1,204 waiters`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `12 s`, `3 min 05 s`, `2 h 14 min`, `3 d 4 h`, from milliseconds. */
export function formatDuration(ms: number): string {
  const of = (unit: number) => Math.floor(ms / unit);
  const two = (count: number) => String(count).padStart(2, '0');
  if (ms < MINUTE) return `${of(SECOND)} s`;
  if (ms < HOUR) return `${of(MINUTE)} min ${two(of(SECOND) % 60)} s`;
  if (ms < DAY) return `${of(HOUR)} h ${two(of(MINUTE) % 60)} min`;
  return `${formatCount(of(DAY))} d ${of(HOUR) % 24} h`;
}

/** `0.4 ms`, `420 ms`, `1.2 s`, from milliseconds. */
export function formatWait(ms: number): string {
  if (ms < SECOND) return `${shortNumber(ms)} ms`;
  return ms < MINUTE ? `${shortNumber(ms / SECOND)} s` : formatDuration(ms);
}

/** `12.4/s`. */
export function formatRate(perSecond: number): string {
  return `${shortNumber(perSecond)}/s`;
}

/** `12:03:10`, from milliseconds since 1970; with the day, where it is another one than today. */
export function formatTime(at: number, now = Date.now()): string {
  const day = DATE.format(at);
  return day === DATE.format(now) ? TIME.format(at) : `${day}, ${TIME.format(at)}`;
}

/** One digit after the point below 10, and none above. */
function shortNumber(value: number): string {
  if (value >= 9.95) return NUMBERS.format(Math.round(value));
  return String(Math.round(value * 10) / 10);
}
