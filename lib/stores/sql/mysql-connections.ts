import type { MysqlClient, MysqlPromiseClient } from './sql-clients.js';

/** The start of the statement, the same wherever it stands in it, and whatever the time zone of the session. */
export const NOW = 'UTC_TIMESTAMP(6)';
/** `NOW` in microseconds since 1970. */
export const MICROSECONDS = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', ${NOW})`;
const LONGEST_HOLDER = 255;

/** What the driver says of a statement that returns no rows. */
export interface Changes {
  readonly affectedRows: number;
  /** The last LAST_INSERT_ID(n) of the statement. */
  readonly insertId: number | string;
}

/** A pool of mysql2, with promises or callbacks. */
export class MysqlConnections {
  readonly #client: MysqlPromiseClient;

  constructor(client: MysqlClient) {
    this.#client = 'promise' in client ? client.promise() : client;
  }

  async change(sql: string, values: unknown[]): Promise<Changes> {
    return (await this.#client.query(sql, values))[0] as Changes;
  }

  async read(sql: string, values: unknown[]): Promise<readonly unknown[]> {
    return (await this.#client.query(sql, values))[0] as readonly unknown[];
  }
}

/** A number, however it came here: it stands in the statement as it is. */
export function microseconds(ms: number): number {
  return Math.round(ms * 1_000);
}

/** As it fits into the column. */
export function holderBytes(holder: string | undefined): Buffer | null {
  return holder === undefined ? null : Buffer.from(holder.slice(0, LONGEST_HOLDER));
}

/** What the fencing token is at least: the clock, where nobody says. */
export function fencingFloor(floor: bigint | undefined): string {
  return floor === undefined ? MICROSECONDS : BigInt.asIntN(64, floor).toString();
}
