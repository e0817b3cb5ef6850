import { systemClock } from '../../core/clock.js';
import type { Cancel } from '../../core/clock.js';
import { failureKind } from './sql-failures.js';

/**
 * Milliseconds after which a connection that has not answered a statement is given up, and one that is still being made: a server that
 * hangs, or is replaced by another one, closes none, and the pool would keep them until none is left.
 */
export const LONGEST_ANSWER = 5_000;

/** What `pg.Pool` keeps of its clients, those included that are still connecting. */
interface PgPool {
  readonly _clients?: readonly PgClient[];
}

interface PgClient {
  readonly _connecting?: boolean;
  readonly connection?: { readonly stream?: { destroy(error?: Error): void } };
}

/** To be called after a statement was sent. Gives up what the pool was connecting then, and still is; the result ends that. */
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

/** Sends a statement on a connection of the pool, which does not get one back that has not answered. */
export async function queryInTime(
  pool: MysqlConnectionPool,
  sql: string,
  values: unknown[],
): Promise<readonly [unknown, ...unknown[]]> {
  const connection = await pool.getConnection();
  let cancel!: Cancel;
  const isLate = new Promise<never>((_, reject) => {
    cancel = systemClock.schedule(
      LONGEST_ANSWER,
      () => {
        connection.destroy();
        connection.connection?.stream?.destroy?.();
        reject(new UnansweredError());
      },
      true,
    );
  });
  try {
    return await Promise.race([connection.query(sql, values), isLate]);
  } catch (error) {
    if (failureKind(error) === 'read-only') connection.destroy(); // as the pool does: after a failover, another server takes writes
    throw error;
  } finally {
    cancel();
    connection.release(); // harmless for one that was destroyed
  }
}

class UnansweredError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super(`the server has answered nothing for ${LONGEST_ANSWER} ms`);
  }
}
