/** Milliseconds since 1970, the same at every place in a statement. Integers, so that days cost no precision. */
export const NOW = `CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)`;

/** A parameter, or the clock if it is null: the tokens of a row that was removed do not come again. */
export const FENCING_FLOOR = `coalesce(CAST(? AS INTEGER), ${NOW} * 1000)`;

/** The clock of SQLite counts milliseconds. */
export function wholeMs(ttl: number): number {
  return Math.ceil(ttl);
}
