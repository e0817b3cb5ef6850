import { SHARED } from '../common/lock-table.js';
import { CLOCK, LIVE_QUEUE, MILLISECOND, NOW, floor, isAwaited, micros, millis } from './postgres-expressions.js'; // prettier-ignore

/** The statements for permits. Text that is put into them unquoted was checked before, as in `PostgresStatements`. */
export interface PostgresPermitStatements {
  /**
   * $1 key, $2 token, $3 holder, $4 ttl, $5 floor, $6 permits. A row when we hold a permit, or when others share the row: how
   * many permits it has, and whether one is ours.
   */
  readonly share: string;
  /** $1 key, $2 token, $3 ttl. A row when a permit was ours. */
  readonly extendPermit: string;
  /** $1 key, $2 token, $3 ms of a claim. A row when a permit was ours. The last one hands the row over as `release` does. */
  readonly releasePermit: string;
}

/*
 * `sharers` is a list of [token, holder, deadline in ms] in the order of arrival. A refusal writes nothing. Its reason is read
 * from the row as the statement saw it first: that was true as well, a moment before.
 */
export function postgresPermitStatements(table: string, channel: string): PostgresPermitStatements {
  const isOurs = `held."key" = $1::bytea AND (SELECT shares FROM ${SHARERS})`;
  return {
    share: `WITH granted AS (
  INSERT INTO ${table} AS held ("key", "token", "fencing", "expires_at", "permits", "sharers")
  SELECT $1::bytea, '${SHARED}', ${floor('now')}, now + $4::float8 * ${MILLISECOND}, $6::bigint, jsonb_build_array(${entry('$4')})
  FROM ${CLOCK}
  ON CONFLICT ("key") DO UPDATE SET ("token", "holder", "expires_at", "queue", "permits", "sharers") = (
    SELECT '${SHARED}', NULL::text, greatest(${asTime('latest')}, now + $4::float8 * ${MILLISECOND}),
      CASE WHEN ${isAwaited('now')} THEN held."queue" ELSE '[]' END, $6::bigint, others || jsonb_build_array(${entry('$4')})
    FROM ${SHARERS})
  WHERE (
    SELECT shares OR (NOT ${isAwaited('now')} AND CASE
      WHEN others <> '[]' THEN held."permits" = $6::bigint AND jsonb_array_length(others) < $6::bigint
      ELSE held."token" IS NULL OR held."token" = '${SHARED}' OR held."expires_at" <= now END)
    FROM ${SHARERS})
  RETURNING "permits")
SELECT "permits"::text AS permits, 'true' AS ours FROM granted
UNION ALL
SELECT "permits"::text, 'false' FROM ${table}
WHERE "key" = $1::bytea AND "token" = '${SHARED}' AND "expires_at" > ${NOW} AND NOT EXISTS (SELECT FROM granted)`,

    extendPermit: `UPDATE ${table} AS held SET ("expires_at", "sharers") = (
  SELECT greatest(${asTime('latest')}, now + $3::float8 * ${MILLISECOND}), (
    SELECT jsonb_agg(CASE WHEN each->>0 = $2::text THEN jsonb_set(each, '{2}', to_jsonb(${millis('now')} + $3::float8)) ELSE each END ORDER BY place)
    FROM jsonb_array_elements(held."sharers") WITH ORDINALITY AS s(each, place))
  FROM ${SHARERS})
WHERE ${isOurs} RETURNING 1`,

    releasePermit: `WITH released AS (
  UPDATE ${table} AS held SET ("token", "holder", "fencing", "expires_at", "queue", "permits", "sharers") = (
    SELECT CASE WHEN stays THEN '${SHARED}' ELSE live->0->>0 END,
      CASE WHEN NOT stays THEN live->0->>1 END,
      CASE WHEN stays OR live = '[]' THEN held."fencing" ELSE greatest(held."fencing" + 1, ${micros('queue.now')}) END,
      CASE WHEN stays THEN ${asTime('latest')} WHEN live = '[]' THEN queue.now ELSE queue.now + $3::float8 * ${MILLISECOND} END,
      CASE WHEN stays THEN live ELSE live - 0 END,
      CASE WHEN stays THEN held."permits" END,
      CASE WHEN stays THEN others END
    FROM ${SHARERS}, ${LIVE_QUEUE} AS queue, LATERAL (SELECT others <> '[]' AS stays OFFSET 0) AS decision)
  WHERE ${isOurs} RETURNING "token")
SELECT CASE WHEN "token" <> '${SHARED}' THEN pg_notify('${channel}', "token") END FROM released`,
  };
}

/**
 * `now`, whether $2 is among the entries of `held` whose deadline is later, the others of them, and the last deadline of those.
 */
const SHARERS = `(
  SELECT now, coalesce(bool_or(each->>0 = $2::text), false) AS shares,
    coalesce(jsonb_agg(each ORDER BY place) FILTER (WHERE each->>0 <> $2::text), '[]') AS others,
    max((each->>2)::float8) FILTER (WHERE each->>0 <> $2::text) AS latest
  FROM ${CLOCK} LEFT JOIN LATERAL
    jsonb_array_elements(CASE WHEN held."token" = '${SHARED}' THEN held."sharers" END) WITH ORDINALITY AS s(each, place)
    ON (each->>2)::float8 > ${millis('now')}
  GROUP BY now) AS sharing`;

function entry(ttl: string): string {
  return `jsonb_build_array($2::text, $3::text, ${millis('now')} + ${ttl}::float8)`;
}

function asTime(deadline: string): string {
  return `to_timestamp(${deadline} / 1000)`;
}
