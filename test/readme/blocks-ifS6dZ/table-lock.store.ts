import type { AcquireRequest, Lease, LockStore } from 'nest-holdfast/core';

/** Runs one statement and resolves with the first row that it returns. */
export type Query = (sql: string, ...values: unknown[]) => Promise<{ fence: string } | undefined>;

export const TABLE = `
  CREATE TABLE IF NOT EXISTS locks (key TEXT PRIMARY KEY, token TEXT, expires INTEGER, fence INTEGER)`;

const NOW = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`; // the database's clock, never the caller's
const ACQUIRE = `
  INSERT INTO locks (key, token, expires, fence) VALUES (?, ?, ${NOW} + ?, CAST(? AS INTEGER))
  ON CONFLICT (key) DO UPDATE SET
    token = excluded.token, expires = excluded.expires, fence = max(locks.fence + 1, excluded.fence)
  WHERE locks.token = excluded.token OR locks.expires <= ${NOW}
  RETURNING CAST(fence AS TEXT) AS fence`;
const OURS = `WHERE key = ? AND token = ? AND expires > ${NOW} RETURNING CAST(fence AS TEXT) AS fence`;
const EXTEND = `UPDATE locks SET expires = ${NOW} + ? ${OURS}`;
const RELEASE = `UPDATE locks SET expires = 0 ${OURS}`; // the row stays, and with it the counter

export class TableLockStore implements LockStore {
  readonly name = 'table';
  readonly supports = { fencing: true, ttl: true } as const;

  constructor(private readonly query: Query) {}

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const { key, token, ttl, fencingFloor = 1n } = request;
    const extend = async (ms: number) => (await this.query(EXTEND, ms, key, token)) !== undefined;
    const release = async () => (await this.query(RELEASE, key, token)) !== undefined;
    try {
      const row = await this.query(ACQUIRE, key, token, ttl, String(fencingFloor));
      return row && { fencingToken: BigInt(row.fence), extend, release };
    } catch (error) {
      await release().catch(() => undefined); // the grant may have been applied all the same
      throw error;
    }
  }
}
