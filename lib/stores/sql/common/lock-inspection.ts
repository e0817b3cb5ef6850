import type { LockInspection } from '../../../core/contract/lock-inspection.js';
import { ageOfToken } from '../../../core/list/token-age.js';
import { asBigInt, asNumber, asText, asWhole, columnsOf } from './sql-answers.js';

/** Token, name of the holder, and when it expires, on the clock that `now` is read from. */
type Sharer = readonly [string, string | null, number];
/** Number of the living, and the holders of the first ones in the queue. */
type Waiters = readonly [number, readonly (string | null)[]];

/** How a dialect tells a row. */
export interface InspectedRow {
  /** Of `now`, in a millisecond. */
  readonly units?: number;
  /** Whether a column `waiters` comes last. */
  readonly hasQueue?: boolean;
}

/**
 * From the columns `holder`, `remaining`, `fencing`, `permits` and `sharers` of a shared row, and `now`: all as text. `waiters` is
 * JSON.
 */
export function asInspection(
  key: string,
  row: unknown,
  { units = 1, hasQueue = false }: InspectedRow = {},
): LockInspection | undefined {
  if (!row) return undefined;
  const columns = columnsOf(row, hasQueue ? 7 : 6);
  const [holder, remaining, fencing, permits, sharers, now, waiters] = columns;
  const seen = { key, remaining: asNumber(remaining), ...(hasQueue && asWaiters(waiters)) };
  if (permits === null) {
    const name = holder === null ? undefined : asText(holder);
    const fencingToken = asBigInt(fencing);
    const heldFor = ageOfToken(fencingToken, asNumber(now) / units);
    return { ...seen, holder: name, heldFor, fencingToken };
  }
  const holders = namesOf(JSON.parse(asText(sharers)), asNumber(now));
  return { ...seen, holder: holders[0] || undefined, permits: asWhole(permits), holders };
}

/** As `asInspection`, of rows whose first column is the key as text. */
export function asListed(
  rows: readonly unknown[],
  keyFrom: (column: string) => string,
  how: InspectedRow = {},
): LockInspection[] {
  return rows.map((row) => {
    const [key, ...columns] = Object.values(row as object) as readonly unknown[];
    return asInspection(keyFrom(asText(key)), columns, how)!;
  });
}

/** For a key that came as the hexadecimal digits of its bytes. */
export function keyFromHex(digits: string): string {
  return Buffer.from(digits, 'hex').toString('utf8');
}

function asWaiters(json: unknown): Pick<LockInspection, 'waiters' | 'waiterCount'> {
  const [waiterCount, names] = JSON.parse(asText(json)) as Waiters;
  return { waiters: names.map((name) => name ?? ''), waiterCount };
}

function namesOf(sharers: readonly Sharer[], now: number): string[] {
  return sharers.filter(([, , until]) => until > now).map(([, holder]) => holder ?? '');
}
