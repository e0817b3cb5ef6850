import type { LockInspection } from '../../../core/contract/lock-store.js';
import { asBigInt, asNumber, asText, asWhole, columnsOf } from './sql-answers.js';

/** Token, name of the holder, and when it expires, on the clock that `now` is read from. */
type Sharer = readonly [string, string | null, number];

/** From the columns `holder`, `remaining` and `fencing`, and from `permits`, `sharers` and `now` of a shared row: all as text. */
export function asInspection(key: string, row: unknown): LockInspection | undefined {
  if (!row) return undefined;
  const [holder, remaining, fencing, permits, sharers, now] = columnsOf(row, 6);
  const seen = { key, remaining: asNumber(remaining) };
  if (permits === null) {
    const name = holder === null ? undefined : asText(holder);
    return { ...seen, holder: name, fencingToken: asBigInt(fencing) };
  }
  const holders = namesOf(JSON.parse(asText(sharers)), asNumber(now));
  return { ...seen, holder: holders[0] || undefined, permits: asWhole(permits), holders };
}

function namesOf(sharers: readonly Sharer[], now: number): string[] {
  return sharers.filter(([, , until]) => until > now).map(([, holder]) => holder ?? '');
}
