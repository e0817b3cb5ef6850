import type { LockInspection } from '../../core/lock-store.js';
import { columnsOf } from './lock-table.js';

/** Token, name of the holder, and when it expires, on the clock that `now` is read from. */
type Sharer = readonly [string, string | null, number];

/** Of the columns `holder`, `remaining` and `fencing`, and `permits`, `sharers` and `now` of a row that is shared: all as text. */
export function asInspection(key: string, row: unknown): LockInspection | undefined {
  if (!row) return undefined;
  const [holder, remaining, fencing, permits, sharers, now] = columnsOf(row) as [
    string | null,
    ...string[],
  ];
  const seen = { key, remaining: Number(remaining) };
  if (permits == null) {
    return { ...seen, holder: holder ?? undefined, fencingToken: BigInt(fencing!) };
  }
  const holders = namesOf(JSON.parse(sharers!), Number(now));
  return { ...seen, holder: holders[0] || undefined, permits: Number(permits), holders };
}

function namesOf(sharers: readonly Sharer[], now: number): string[] {
  return sharers.filter(([, , until]) => until > now).map(([, holder]) => holder ?? '');
}
