import { MOST_WAITERS } from '../../../core/list/most-waiters.js';
import { SHARED } from '../common/lock-table.js';
import { HEARTBEAT, ROLL_CALL } from './postgres-claims.js';

/** Not `now()`, which stands still in a transaction. */
export const NOW = 'clock_timestamp()';
export const MILLISECOND = `interval '1 millisecond'`;

/** One row, `now`. OFFSET 0 keeps the clock from being read more than once. */
export const CLOCK = `(SELECT ${NOW} AS now OFFSET 0) AS clock`;

/** Whether the row has been free for `ms`: long enough that any live waiter would have taken it. */
export function isFreeSince(now: string, ms: number): string {
  return `held."expires_at" <= ${now} - ${ms} * ${MILLISECOND}`;
}

/**
 * `now`, and the waiters in the queue of `held` whose deadline is later. If no waiter took the row, they get the time of one
 * heartbeat to report.
 */
export const LIVE_QUEUE = `(
  SELECT now, (
    SELECT coalesce(jsonb_agg(CASE WHEN ${isFreeSince('now', ROLL_CALL)}
      THEN jsonb_set(each, '{2}', to_jsonb(least((each->>2)::float8, ${millis('now')} + ${HEARTBEAT}))) ELSE each END ORDER BY place), '[]')
    FROM jsonb_array_elements(held."queue") WITH ORDINALITY AS q(each, place)
    WHERE (each->>2)::float8 > ${millis('now')}) AS live
  FROM ${CLOCK} OFFSET 0)`;

/** A row that stays free for longer than a heartbeat and a roll call has no live waiter. */
export function isAwaited(now: string): string {
  const lives = `(each->>2)::float8 > ${millis(now)} AND NOT ${isFreeSince(now, HEARTBEAT + 4 * ROLL_CALL)}`;
  return `EXISTS (SELECT FROM jsonb_array_elements(held."queue") AS e(each) WHERE ${lives})`;
}

export function micros(now: string): string {
  return `(extract(epoch FROM ${now}) * 1000000)::bigint`;
}

export function millis(now: string): string {
  return `extract(epoch FROM ${now})::float8 * 1000`;
}

/** $5, or the clock if it is null: the tokens of a row that was removed do not come again. */
export function floor(now: string): string {
  return `coalesce($5::bigint, ${micros(now)})`;
}

/** For a row that is held. */
export const IS_HELD = `"token" IS NOT NULL AND "expires_at" > ${NOW}`;

/** The columns of an inspection. The last one has the number of the living waiters, and the names of the first. */
export const INSPECTED = `"holder", (extract(epoch FROM "expires_at" - ${NOW}) * 1000)::text AS remaining, "fencing"::text AS fencing,
  CASE WHEN "token" = '${SHARED}' THEN "permits"::text END AS permits, "sharers"::text AS sharers, (${millis(NOW)})::text AS now, (
    SELECT jsonb_build_array(count(*), coalesce(jsonb_agg(each->1 ORDER BY place) FILTER (WHERE number <= ${MOST_WAITERS}), '[]'))
    FROM (
      SELECT each, place, row_number() OVER (ORDER BY place) AS number
      FROM jsonb_array_elements("queue") WITH ORDINALITY AS q(each, place) WHERE (each->>2)::float8 > ${millis(NOW)}) AS living)::text AS waiters`;
