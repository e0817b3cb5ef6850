import type {
  AcquireRequest,
  Lease,
  LockInspection,
  LockStore,
  StoreNotice,
} from '../../core/lock-store.js';
import { takeBack } from './abandoned-claims.js';
import type { Claim, LockTable } from './lock-table.js';
import { lockTableDdl } from './lock-table-ddl.js';
import { MysqlTable } from './mysql-table.js';
import { PostgresLease } from './postgres-lease.js';
import { PostgresQueue } from './postgres-queue.js';
import { PostgresTable } from './postgres-table.js';
import type { SqlClient } from './sql-clients.js';
import { resolveTable } from './sql-identifiers.js';
import { SqlLease } from './sql-lease.js';
import { watchConnections } from './lost-connections.js';
import { dialectOf, isPrepared, listenerOf } from './sql-lock-options.js';
import type { SqlLockStoreOptions } from './sql-lock-options.js';
import { retried } from './sql-retries.js';
import { SqliteTable } from './sqlite-table.js';
import { Sweeper } from './sweeper.js';

/**
 * Locks as rows of a table, in PostgreSQL, MySQL 8, MariaDB or SQLite. No connection is held while a lock is.
 *
 * ```ts
 * const store = new SqlLockStore({ postgres: pool });
 * await store.createTable(); // or run `lockTableDdl('postgres')` in a migration
 * ```
 */
export class SqlLockStore implements LockStore {
  readonly name = 'sql';
  readonly supports = { fencing: true, ttl: true } as const;
  /** Stands in line in the row. PostgreSQL only; the others are polled. */
  readonly acquire?: (request: AcquireRequest, signal: AbortSignal) => Promise<Lease>;
  readonly #table: LockTable;
  readonly #leaseOf: (key: string, token: string, fencingToken?: bigint) => Lease;
  readonly #sweeper: Sweeper;
  readonly #queue: PostgresQueue | undefined;
  readonly #pool: unknown;
  readonly #closers: (() => void)[] = [];

  /** Throws `TypeError` for a client or an option that cannot be used. The client stays the caller's: it is never closed here. */
  constructor(client: SqlClient, options: SqlLockStoreOptions = {}) {
    const dialect = dialectOf(client);
    const { table: name, quoted } = resolveTable(dialect, options);
    const ddl = lockTableDdl(dialect, options);
    this.#leaseOf = (...lease) => new SqlLease(this.#table, ...lease);
    if ('postgres' in client) {
      const table = new PostgresTable(client.postgres, {
        quoted,
        channel: name,
        ddl,
        prepare: isPrepared(options),
      });
      const connect = listenerOf(client.postgres, options);
      this.#table = table;
      this.#pool = client.postgres;
      if (connect) {
        const queue = new PostgresQueue(table, name, connect);
        this.#queue = queue;
        this.#leaseOf = (...lease) => new PostgresLease(table, ...lease);
        this.acquire = (request, signal) => this.#wait(queue, request, signal);
      }
    } else if ('mysql' in client) this.#table = new MysqlTable(client.mysql, quoted, ddl);
    else this.#table = new SqliteTable(client.sqlite, quoted, ddl);
    this.#sweeper = new Sweeper(this.#table);
  }

  /** Makes the table where it does not exist. Safe to call in every process at the same time. */
  async createTable(): Promise<void> {
    await retried(() => this.#table.create());
  }

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const claim = claimOf(request);
    const { key, token, ttl } = claim;
    try {
      const { value } = await retried(() => this.#table.acquire(claim));
      this.#sweeper.lockTaken();
      return value === undefined ? undefined : this.#leaseOf(key, token, value);
    } catch (error) {
      void takeBack(this.#table, key, token, ttl);
      throw error;
    }
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    return (await retried(() => this.#table.inspect(key))).value;
  }

  /** Tells when an idle connection of a `pg.Pool` was lost: a server that took over need not have heard of every lock. */
  observe(tell: (notice: StoreNotice) => void): void {
    const lost = ({ message }: Error) =>
      tell({ type: 'doubt', reason: `a connection to the server was lost: ${message}` });
    this.#closers.push(watchConnections(this.#pool, lost));
  }

  /** Closes the connection that listens. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0)) close();
    await this.#queue?.close();
  }

  async #wait(queue: PostgresQueue, request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    const fencingToken = await queue.wait(claimOf(request), signal);
    return this.#leaseOf(request.key, request.token, fencingToken);
  }
}

function claimOf({ key, token, ttl, holder, fencingFloor }: AcquireRequest): Claim {
  return { key, token, ttl, holder, fencingFloor };
}
