import {
  CLOCK,
  INSPECTED,
  IS_HELD,
  LIVE_QUEUE,
  MILLISECOND,
  NOW,
  floor,
  isAwaited,
  isFreeSince,
  micros,
  millis,
} from './postgres-expressions.js';
import { HEARTBEAT, WAITERS_PER_BEAT, ROLL_CALL } from './postgres-claims.js';

/**
 * The statements on one table. Text that is put into them unquoted was checked before: `table` is quoted, `channel` an
 * identifier.
 */
export interface PostgresStatements {
  /** $1 key, $2 token, $3 holder, $4 ttl, $5 floor. A row when it is ours: its fencing token. */
  readonly acquire: string;
  /** $1 key, $2 token, $3 ttl. A row when it was ours: its fencing token. */
  readonly extend: string;
  /**
   * $1 list of [key in hexadecimal, token] as JSON, $2 ttl. A row for each that was ours and that no transaction has locked: its
   * token.
   */
  readonly extendMany: string;
  /** $1 key, $2 token, $3 ms of a claim. A row when it was ours. Hands off to the first live waiter, and notifies only then. */
  readonly release: string;
  /**
   * $1 key, $2 token, $3 ttl, $4 token of the next holder. A row when it was ours: its fencing token, and whether another process
   * waits. Applied again it changes nothing, except that the ttl may end later.
   */
  readonly handOff: string;
  /**
   * As `acquire`, and $6 ms of a heartbeat: joins the queue, or renews its place there. Whether the row is ours, its token, its
   * ms left, and the number of waiters.
   */
  readonly stand: string;
  /**
   * $1 key, $2 token. Writes nothing. Whether it is in the queue with nothing to do and its heartbeat lasts for a while, and the
   * row's ms left.
   */
  readonly look: string;
  /** $1 key, $2 token. */
  readonly leave: string;
  /** $1 key. A row when it is held. */
  readonly inspect: string;
  /** $1 the first key, $2 limit. A row for each that is held, with its key in hexadecimal. */
  readonly list: string;
  /** A row: the clock, in milliseconds since 1970. */
  readonly time: string;
  /** $1 limit. A row for each that was removed. */
  readonly sweep: string;
}

/*
 * `queue` is a list of [token, holder, deadline in ms] in the order of arrival. One sub-select decides, from one reading of the
 * clock, taken when the row has been locked: the right side of an assignment is evaluated for the row as it is then.
 */
export function postgresStatements(table: string, channel: string): PostgresStatements {
  const row = `"token", "holder", "fencing", "expires_at", "queue"`;
  const isOurs = `held."key" = $1::bytea AND held."token" = $2::text AND held."expires_at" > ${NOW}`;
  const insert = `INSERT INTO ${table} AS held ("key", "token", "holder", "fencing", "expires_at")
VALUES ($1::bytea, $2::text, $3::text, ${floor(NOW)}, ${NOW} + $4::float8 * ${MILLISECOND})
ON CONFLICT ("key") DO UPDATE SET`;
  return {
    acquire: `${insert} "token" = $2::text, "holder" = $3::text,
  "queue" = CASE WHEN held."token" = $2::text THEN held."queue" ELSE '[]' END,
  "fencing" = greatest(held."fencing" + 1, ${floor(NOW)}), "expires_at" = ${NOW} + $4::float8 * ${MILLISECOND}
WHERE held."token" = $2::text OR ((held."token" IS NULL OR held."expires_at" <= ${NOW}) AND NOT ${isAwaited(NOW)})
RETURNING "fencing"::text`,

    extend: `UPDATE ${table} AS held SET "expires_at" = ${NOW} + $3::float8 * ${MILLISECOND}
WHERE ${isOurs} RETURNING "fencing"::text`,

    extendMany: `WITH ours AS (
  SELECT held."key" FROM ${table} AS held, (
    SELECT decode(each->>0, 'hex') AS "key", each->>1 AS "token" FROM jsonb_array_elements($1::jsonb) AS e(each) OFFSET 0) AS asked
  WHERE held."key" = asked."key" AND held."token" = asked."token" AND held."expires_at" > ${NOW}
  FOR UPDATE OF held SKIP LOCKED)
UPDATE ${table} AS held SET "expires_at" = ${NOW} + $2::float8 * ${MILLISECOND}
FROM ours WHERE held."key" = ours."key" RETURNING held."token"`,

    release: `WITH released AS (
  UPDATE ${table} AS held SET (${row}) = (
    SELECT live->0->>0, live->0->>1,
      CASE WHEN live = '[]' THEN held."fencing" ELSE greatest(held."fencing" + 1, ${micros('now')}) END,
      CASE WHEN live = '[]' THEN now ELSE now + $3::float8 * ${MILLISECOND} END,
      live - 0
    FROM ${LIVE_QUEUE} AS queue) WHERE ${isOurs} RETURNING "token")
SELECT CASE WHEN "token" IS NOT NULL THEN pg_notify('${channel}', "token") END FROM released`,

    handOff: `UPDATE ${table} AS held SET "token" = $4::text,
  "fencing" = CASE WHEN held."token" = $4::text THEN held."fencing" ELSE greatest(held."fencing" + 1, ${micros(NOW)}) END,
  "expires_at" = greatest(CASE WHEN held."token" = $4::text THEN held."expires_at" END, ${NOW} + $3::float8 * ${MILLISECOND})
WHERE held."key" = $1::bytea AND held."token" IN ($2::text, $4::text) AND held."expires_at" > ${NOW} RETURNING "fencing"::text AS fencing, ${isAwaited(NOW)}::text AS awaited`,

    stand: `${insert} (${row}) = (
  SELECT CASE WHEN takes THEN $2::text ELSE held."token" END,
    CASE WHEN takes THEN $3::text ELSE held."holder" END,
    CASE WHEN takes THEN greatest(held."fencing" + 1, ${floor('now')}) ELSE held."fencing" END,
    CASE WHEN takes THEN now + $4::float8 * ${MILLISECOND} ELSE held."expires_at" END,
    CASE WHEN takes THEN others WHEN stands THEN (
      SELECT jsonb_agg(CASE WHEN each->>0 = $2::text THEN entry ELSE each END ORDER BY place)
      FROM jsonb_array_elements(live) WITH ORDINALITY AS q(each, place))
    ELSE live || jsonb_build_array(entry) END
  FROM (
    SELECT now, live,
      held."token" = $2::text IS TRUE OR ((held."token" IS NULL OR held."expires_at" <= now)
        AND coalesce(live->0->>0, $2::text) = $2::text) AS takes,
      EXISTS (SELECT FROM jsonb_array_elements(live) AS e(each) WHERE each->>0 = $2::text) AS stands,
      (SELECT coalesce(jsonb_agg(each ORDER BY place) FILTER (WHERE each->>0 <> $2::text), '[]')
        FROM jsonb_array_elements(live) WITH ORDINALITY AS q(each, place)) AS others,
      jsonb_build_array($2::text, $3::text, ${millis('now')} + $6::float8 * greatest(1, jsonb_array_length(live) / ${WAITERS_PER_BEAT}.0)) AS entry
    FROM ${LIVE_QUEUE} AS alive OFFSET 0) AS queue)
RETURNING ("token" = $2::text)::text AS granted, "fencing"::text AS fencing,
  (extract(epoch FROM "expires_at" - ${NOW}) * 1000)::text AS remaining, jsonb_array_length("queue")::text AS length`,

    look: `SELECT (held."token" IS DISTINCT FROM $2::text AND own > ${HEARTBEAT}
    AND (held."token" IS NOT NULL AND held."expires_at" > now OR first <> $2::text AND NOT ${isFreeSince('now', ROLL_CALL)}))::text AS stays,
  (extract(epoch FROM held."expires_at" - now) * 1000)::text AS remaining
FROM ${table} AS held, ${CLOCK}, LATERAL (
  SELECT max(deadline - ${millis('now')}) FILTER (WHERE each->>0 = $2::text) AS own, (array_agg(each->>0 ORDER BY place))[1] AS first
  FROM jsonb_array_elements(held."queue") WITH ORDINALITY AS q(each, place), LATERAL (SELECT (each->>2)::float8 AS deadline) AS d
  WHERE deadline > ${millis('now')}) AS queue
WHERE held."key" = $1::bytea`,

    leave: `UPDATE ${table} AS held SET "queue" = (
  SELECT coalesce(jsonb_agg(each ORDER BY place) FILTER (WHERE each->>0 <> $2::text), '[]')
  FROM jsonb_array_elements(held."queue") WITH ORDINALITY AS q(each, place))
WHERE held."key" = $1::bytea AND held."queue" @> jsonb_build_array(jsonb_build_array($2::text))`,

    inspect: `SELECT ${INSPECTED} FROM ${table} WHERE "key" = $1::bytea AND ${IS_HELD}`,

    list: `SELECT encode("key", 'hex') AS key, ${INSPECTED}
FROM ${table} WHERE "key" >= $1::bytea AND ${IS_HELD} ORDER BY ${table}."key" LIMIT $2::int`,

    time: `SELECT (${millis(NOW)})::text AS now`,

    sweep: `DELETE FROM ${table} WHERE "key" IN (
  SELECT "key" FROM ${table}
  WHERE "expires_at" < ${NOW} - interval '1 day' AND "fencing" < ${micros(NOW)}
  LIMIT $1::int FOR UPDATE SKIP LOCKED) RETURNING 1`,
  };
}
