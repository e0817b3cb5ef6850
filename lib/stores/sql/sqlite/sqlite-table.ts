import type { LockInspection } from '../../../core/contract/lock-store.js';
import { asInspection, asListed, keyFromHex } from '../common/lock-inspection.js';
import { SHARED } from '../common/lock-table.js';
import type { Claim, LockTable, OurRow } from '../common/lock-table.js';
import { asBigInt, asRow, columnsOf, isDone } from '../common/sql-answers.js';
import { SqliteConnection } from './sqlite-connection.js';
import { SqlitePermits } from './sqlite-permits.js';
import { FENCING_FLOOR, NOW, wholeMs } from './sqlite-time.js';
import type { SqliteClient } from '../common/sql-clients.js';

const DAY = 86_400_000;

/** The columns come back as text: a driver may make numbers or bigints of integers. */
export class SqliteTable implements LockTable {
  readonly permits: SqlitePermits;
  readonly #connection: SqliteConnection;
  readonly #ddl: string;
  readonly #acquire: string;
  readonly #evict: string;
  readonly #extend: string;
  readonly #release: string;
  readonly #inspect: string;
  readonly #list: string;
  readonly #sweep: string;

  constructor(client: SqliteClient, quoted: string, ddl: string) {
    this.#connection = new SqliteConnection(client);
    this.permits = new SqlitePermits(this.#connection, quoted);
    this.#ddl = ddl;
    const isOurs = `"key" = ? AND "token" = ? AND "expires_at" > ${NOW}`;
    this.#acquire = `INSERT INTO ${quoted} AS held ("key", "token", "holder", "fencing", "expires_at")
VALUES (?, ?, ?, ${FENCING_FLOOR}, ${NOW} + CAST(? AS INTEGER))
ON CONFLICT ("key") DO UPDATE SET "token" = excluded."token", "holder" = excluded."holder",
  "fencing" = max(held."fencing" + 1, excluded."fencing"), "expires_at" = excluded."expires_at"
WHERE held."token" IS NULL OR held."token" = excluded."token" OR held."expires_at" <= ${NOW}
RETURNING CAST("fencing" AS TEXT) AS fencing`;
    this.#evict = `UPDATE ${quoted} SET "token" = ?, "holder" = ?, "fencing" = max("fencing" + 1, ${NOW} * 1000), "expires_at" = ${NOW} + CAST(? AS INTEGER)
WHERE "key" = ? AND "expires_at" > ${NOW} AND ("token" = ? OR ("fencing" = CAST(? AS INTEGER) AND "token" <> '${SHARED}'))
RETURNING CAST("fencing" AS TEXT) AS fencing`;
    this.#extend = `UPDATE ${quoted} SET "expires_at" = ${NOW} + CAST(? AS INTEGER) WHERE ${isOurs} RETURNING 1`;
    this.#release = `UPDATE ${quoted} SET "token" = NULL, "holder" = NULL, "expires_at" = ${NOW} WHERE ${isOurs} RETURNING 1`;
    const inspected = `"holder", CAST("expires_at" - ${NOW} AS TEXT) AS remaining, CAST("fencing" AS TEXT) AS fencing,
  CASE WHEN "token" = '${SHARED}' THEN CAST("permits" AS TEXT) END AS permits, "sharers", CAST(${NOW} AS TEXT) AS now`;
    const isHeld = `"token" IS NOT NULL AND "expires_at" > ${NOW}`;
    this.#inspect = `SELECT ${inspected} FROM ${quoted} WHERE "key" = ? AND ${isHeld}`;
    this.#list = `SELECT hex("key") AS digits, ${inspected} FROM ${quoted} WHERE "key" >= ? AND ${isHeld} ORDER BY "key" LIMIT ?`;
    this.#sweep = `DELETE FROM ${quoted} WHERE "key" IN (
  SELECT "key" FROM ${quoted} WHERE "expires_at" < ${NOW} - ${DAY} AND "fencing" < ${NOW} * 1000 LIMIT ?) RETURNING 1`;
  }

  async acquire({ key, token, holder, ttl, fencingFloor }: Claim): Promise<bigint | undefined> {
    const floor = fencingFloor?.toString() ?? null;
    const values = [key, token, holder ?? null, floor, wholeMs(ttl)];
    return tokenIn(this.#connection.write(this.#acquire, values));
  }

  async evict({ key, token, holder, ttl }: Claim, named: bigint): Promise<bigint | undefined> {
    const values = [token, holder ?? null, wholeMs(ttl), key, token, named.toString()];
    return tokenIn(this.#connection.write(this.#evict, values));
  }

  async extend(key: string, token: string, ttl: number): Promise<boolean> {
    return isDone(this.#connection.write(this.#extend, [wholeMs(ttl), key, token]));
  }

  async extendMany(rows: readonly OurRow[], ttl: number): Promise<ReadonlySet<string>> {
    const values = rows.map(({ key, token }) => [wholeMs(ttl), key, token]);
    const answers = this.#connection.writeAll(this.#extend, values);
    return new Set(rows.flatMap(({ token }, index) => (isDone(answers[index]) ? token : [])));
  }

  async release(key: string, token: string): Promise<boolean> {
    return isDone(this.#connection.write(this.#release, [key, token]));
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    return asInspection(key, asRow(this.#connection.all(this.#inspect, [key])));
  }

  async list(from: string, limit: number): Promise<readonly LockInspection[]> {
    return asListed(this.#connection.all(this.#list, [from, limit]), keyFromHex);
  }

  async sweep(limit: number): Promise<number> {
    return this.#connection.write(this.#sweep, [limit]).length;
  }

  /** Readers and the writer of a database in WAL mode do not wait for each other. The mode stays with the file. */
  async create(): Promise<void> {
    this.#connection.all('PRAGMA journal_mode = WAL', []);
    this.#connection.exec(this.#ddl);
  }
}

function tokenIn(answer: unknown): bigint | undefined {
  const row = asRow(answer);
  return row && asBigInt(columnsOf(row, 1)[0]);
}
