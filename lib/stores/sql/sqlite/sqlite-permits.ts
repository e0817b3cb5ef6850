import { SHARED } from '../common/lock-table.js';
import type { Claim, PermitAnswer, PermitTable } from '../common/lock-table.js';
import { asRow, asWhole, columnsOf, isDone } from '../common/sql-answers.js';
import type { SqliteConnection } from './sqlite-connection.js';
import { FENCING_FLOOR, NOW, wholeMs } from './sqlite-time.js';

/** For an entry in a list of [token, holder, deadline in ms]. */
const ITS = `json_extract(value, '$[0]')`;
const UNTIL = `json_extract(value, '$[2]')`;
const IS_ALIVE = `${UNTIL} > ${NOW}`;
const LIST = 'coalesce(json_group_array(json(value)), json_array())';

/** Permits in SQLite. In each statement, `held` is the row as it was. */
export class SqlitePermits implements PermitTable {
  readonly #connection: SqliteConnection;
  readonly #acquire: string;
  readonly #inUse: string;
  readonly #extend: string;
  readonly #release: string;

  constructor(connection: SqliteConnection, quoted: string) {
    this.#connection = connection;
    const sharers = `json_each(CASE WHEN held."token" = '${SHARED}' THEN held."sharers" END)`;
    const live = `(SELECT count(*) FROM ${sharers} WHERE ${IS_ALIVE})`;
    const isOurs = `"key" = ? AND EXISTS (SELECT 1 FROM ${sharers} WHERE ${ITS} = ? AND ${IS_ALIVE})`;
    const ours = `json_extract(excluded."sharers", '$[0]')`;
    const isAnother = `${IS_ALIVE} AND ${ITS} <> json_extract(excluded."sharers", '$[0][0]')`;
    this.#acquire = `INSERT INTO ${quoted} AS held ("key", "fencing", "token", "permits", "expires_at", "sharers")
VALUES (?, ${FENCING_FLOOR}, '${SHARED}', CAST(? AS INTEGER), ${NOW} + CAST(? AS INTEGER), json_array(json_array(?, ?, ${NOW} + CAST(? AS INTEGER))))
ON CONFLICT ("key") DO UPDATE SET "token" = excluded."token", "holder" = NULL, "permits" = excluded."permits",
  "expires_at" = max(excluded."expires_at", coalesce((SELECT max(${UNTIL}) FROM ${sharers} WHERE ${isAnother}), 0)),
  "sharers" = json_insert((SELECT ${LIST} FROM ${sharers} WHERE ${isAnother}), '$[#]', json(${ours}))
WHERE EXISTS (SELECT 1 FROM ${sharers} WHERE ${IS_ALIVE} AND NOT (${isAnother})) OR CASE
  WHEN ${live} > 0 THEN held."permits" = excluded."permits" AND ${live} < excluded."permits"
  ELSE held."token" IS NULL OR held."token" = '${SHARED}' OR held."expires_at" <= ${NOW} END
RETURNING 1`;
    this.#inUse = `SELECT CAST("permits" AS TEXT) FROM ${quoted} WHERE "key" = ? AND "token" = '${SHARED}' AND "expires_at" > ${NOW}`;
    this.#extend = `UPDATE ${quoted} AS held SET
  "expires_at" = (SELECT max(CASE WHEN ${ITS} = ? THEN ${NOW} + CAST(? AS INTEGER) ELSE ${UNTIL} END) FROM ${sharers} WHERE ${IS_ALIVE}),
  "sharers" = (
    SELECT json_group_array(json(CASE WHEN ${ITS} = ? THEN json_set(value, '$[2]', ${NOW} + CAST(? AS INTEGER)) ELSE value END))
    FROM ${sharers} WHERE ${IS_ALIVE})
WHERE ${isOurs} RETURNING 1`;
    const others = `${sharers} WHERE ${IS_ALIVE} AND ${ITS} <> ?`;
    this.#release = `UPDATE ${quoted} AS held SET ("token", "permits", "expires_at", "sharers") = (
  SELECT CASE WHEN count(*) > 0 THEN held."token" END, CASE WHEN count(*) > 0 THEN held."permits" END,
    coalesce(max(${UNTIL}), ${NOW}), ${LIST}
  FROM ${others})
WHERE ${isOurs} RETURNING 1`;
  }

  async acquire(claim: Claim, permits: number): Promise<PermitAnswer> {
    const { key, token, holder = null } = claim;
    const floor = claim.fencingFloor?.toString() ?? null;
    const ttl = wholeMs(claim.ttl);
    const values = [key, floor, permits, ttl, token, holder, ttl];
    if (isDone(this.#connection.write(this.#acquire, values))) return { isGranted: true };
    const row = asRow(this.#connection.all(this.#inUse, [key]));
    return { isGranted: false, inUse: row && asWhole(columnsOf(row, 1)[0]) };
  }

  async extend(key: string, token: string, ttl: number): Promise<boolean> {
    const ours = [token, wholeMs(ttl)];
    return isDone(this.#connection.write(this.#extend, [...ours, ...ours, key, token]));
  }

  async release(key: string, token: string): Promise<boolean> {
    return isDone(this.#connection.write(this.#release, [token, key, token]));
  }
}
