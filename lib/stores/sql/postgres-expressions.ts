/** Not `now()`, which stands still in a transaction. */
export const NOW = 'clock_timestamp()';
export const MILLISECOND = `interval '1 millisecond'`;

/** One row, `now`. OFFSET 0 keeps the clock from being read more than once. */
export const CLOCK = `(SELECT ${NOW} AS now OFFSET 0) AS clock`;

/** `now`, and those in the queue of `held` whose deadline is later. */
export const LIVE_QUEUE = `(
  SELECT now, (
    SELECT coalesce(jsonb_agg(each ORDER BY place), '[]')
    FROM jsonb_array_elements(held."queue") WITH ORDINALITY AS q(each, place)
    WHERE (each->>2)::float8 > ${millis('now')}) AS live
  FROM ${CLOCK} OFFSET 0)`;

export function isAwaited(now: string): string {
  return `EXISTS (SELECT FROM jsonb_array_elements(held."queue") AS e(each) WHERE (each->>2)::float8 > ${millis(now)})`;
}

export function micros(now: string): string {
  return `(extract(epoch FROM ${now}) * 1000000)::bigint`;
}

export function millis(now: string): string {
  return `extract(epoch FROM ${now})::float8 * 1000`;
}

/** $5, or where it is null the clock: the tokens of a row that was removed do not come again. */
export function floor(now: string): string {
  return `coalesce($5::bigint, ${micros(now)})`;
}
