import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const LONGEST = 2_147_483_647;

/** Milliseconds of `500ms`, `10s`, `1.5m`, `2h`, `1d` or `0`. Throws `InvalidArgumentError` for anything else. */
export function parseDuration(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  const ms = text.trim() === '0' ? 0 : Math.round(Number(amount) * UNITS[unit ?? '']!);
  if (Number.isSafeInteger(ms) && ms <= LONGEST) return ms;
  throw new InvalidArgumentError(
    'Write a time with its unit, such as 500ms, 10s, 5m or 1h, up to 24d.',
  );
}

/** As `parseDuration`, or `forever`. */
export function parseWait(text: string): number {
  return text === 'forever' ? Infinity : parseDuration(text);
}
