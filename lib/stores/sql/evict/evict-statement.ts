import { SHARED } from '../common/lock-table.js';

/** How PostgreSQL says it. */
interface Expressions {
  /** The clock. */
  readonly now: string;
  /** The end of a ttl, $4. */
  readonly until: string;
  /** The lower bound of a fencing token, $5. */
  readonly floor: string;
}

/** PostgreSQL. $1 to $5 as of `acquire`, $6 the fencing token of the holder whose place is taken. A row: the new fencing token. */
export function evictStatement(table: string, { now, until, floor }: Expressions): string {
  return `UPDATE ${table} AS held SET "token" = $2::text, "holder" = $3::text,
  "fencing" = greatest(held."fencing" + 1, ${floor}), "expires_at" = ${until}
WHERE held."key" = $1::bytea AND held."expires_at" > ${now}
  AND (held."token" = $2::text OR (held."fencing" = $6::bigint AND held."token" <> '${SHARED}')) RETURNING "fencing"::text`;
}
