import { systemClock } from '../../../core/async/clock.js';
import { waitAtMost } from '../../../core/async/sleep.js';
import type { Cancel } from '../../../core/async/clock.js';
import { failureKind } from '../common/sql-failures.js';

/**
 * Milliseconds after which a connection is given up that has not answered a statement, or is still being made. A server that
 * hangs, or that another one replaces, closes no connection: the pool would keep them until none is left.
 */
export const LONGEST_ANSWER = 5_000;

/** The clients of a `pg.Pool`, including those that are still connecting. */
interface PgPool {
  readonly _clients?: readonly PgClient[];
}

interface PgClient {
  readonly _connecting?: boolean;
  readonly connection?: { readonly stream?: { destroy(error?: Error): void } };
}

/**
 * Call it after a statement was sent. Gives up the connections that the pool was making then and still is. Calling the result
 * ends that.
 */
export function boundConnecting(pool: unknown): Cancel {
  const connecting = connectingOf(pool as PgPool);
  if (connecting.length === 0) return () => {};
  return systemClock.schedule(
    LONGEST_ANSWER,
    () => {
      const still = new Set(connectingOf(pool as PgPool));
      for (const client of connecting) if (still.has(client)) giveUp(client);
    },
    true,
  );
}

function connectingOf({ _clients: clients }: PgPool): readonly PgClient[] {
  if (!Array.isArray(clients)) return [];
  return (clients as readonly PgClient[]).filter(({ _connecting }) => _connecting === true);
}

function giveUp({ connection }: PgClient): void {
  connection?.stream?.destroy(new Error('Connection terminated: it was not made in time'));
}

/** The part of a connection of a pool of `mysql2/promise` that is used. */
interface MysqlConnection {
  query(sql: string, values: unknown[]): Promise<readonly [unknown, ...unknown[]]>;
  release(): void;
  /** Takes it out of the pool. */
  destroy(): void;
  readonly connection?: { readonly stream?: { destroy?(): void } };
}

export interface MysqlConnectionPool {
  getConnection(): Promise<MysqlConnection>;
}

/** Sends a statement on a connection of the pool. A connection that has not answered does not go back to the pool. */
export async function queryInTime(
  pool: MysqlConnectionPool,
  sql: string,
  values: unknown[],
): Promise<readonly [unknown, ...unknown[]]> {
  const connection = await pool.getConnection();
  try {
    const answer = connection.query(sql, values);
    if (await waitAtMost(systemClock, LONGEST_ANSWER, answer, true)) return await answer;
    connection.destroy();
    connection.connection?.stream?.destroy?.();
    throw new UnansweredError();
  } catch (error) {
    if (failureKind(error) === 'read-only') connection.destroy(); // as the pool does: another server takes writes now
    throw error;
  } finally {
    connection.release(); // harmless if it was destroyed
  }
}

class UnansweredError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super(`the server has answered nothing for ${LONGEST_ANSWER} ms`);
  }
}
