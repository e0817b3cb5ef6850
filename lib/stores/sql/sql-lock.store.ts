import { LockPermitsError } from '../../core/contract/lock-errors.js';
import type {
  AcquireRequest,
  EvictRequest,
  HolderAnswer,
  Lease,
  LockInspection,
  LockListQuery,
  LockPage,
  LockStore,
  NamedHolder,
  StoreNotice,
} from '../../core/contract/lock-store.js';
import { ListCursors } from '../../core/list/list-cursor.js';
import { ClockWatch, whySet } from '../../core/store/clock-watch.js';
import { takeBack } from './connections/abandoned-claims.js';
import { extendMany } from './common/extend-many.js';
import { type Claim, type Holdings, type LockTable, claimOf } from './common/lock-table.js';
import { listRows } from './common/list-rows.js';
import { RowEvictions } from './evict/row-evictions.js';
import { Evictions } from '../kit/evictions.js';
import { StoreObservers } from '../kit/store-observers.js';
import { lockTableDdl } from './common/lock-table-ddl.js';
import { MysqlTable } from './mysql/mysql-table.js';
import { PostgresLease } from './postgres/postgres-lease.js';
import { PostgresQueue } from './postgres/postgres-queue.js';
import { PostgresTable } from './postgres/postgres-table.js';
import type { SqlClient } from './common/sql-clients.js';
import { resolveTable } from './common/sql-identifiers.js';
import { SqlLease } from './common/sql-lease.js';
import { watchConnections } from './connections/lost-connections.js';
import { checkSqlOptions, dialectOf, listenerOf } from './sql-lock-options.js';
import type { SqlLockStoreOptions } from './sql-lock-options.js';
import { retried } from './common/sql-retries.js';
import { SqliteTable } from './sqlite/sqlite-table.js';
import { Sweeper } from './connections/sweeper.js';
import { isShared } from '../../core/sharing/hold-mode.js';

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
  readonly supports = {
    fencing: true,
    ttl: true,
    queuesManyKeys: true,
    semaphores: 'polled',
  } as const;
  /** Waits in the queue of the row. PostgreSQL only; core polls the others. */
  readonly acquire?: (request: AcquireRequest, signal: AbortSignal) => Promise<Lease>;
  /** Not on MySQL and MariaDB, where one row that another transaction has locked would hold up the others. */
  readonly extendMany?: (
    leases: readonly Lease[],
    ttl: number,
  ) => Promise<ReadonlyMap<Lease, unknown>>;
  readonly #table: LockTable;
  readonly #leaseOf: (key: string, token: string, fencingToken?: bigint) => Lease;
  readonly #evictions: Evictions;
  readonly #observers = new StoreObservers();
  readonly #cursors: ListCursors<string>;
  readonly #sweeper: Sweeper;
  readonly #queue: PostgresQueue | undefined;
  readonly #pool: unknown;
  readonly #closers: (() => void)[] = [];
  #clocks: ClockWatch | undefined;

  /** Throws `TypeError` for a client or an option that cannot be used. The caller keeps its client: the store never closes it. */
  constructor(client: SqlClient, options: SqlLockStoreOptions = {}) {
    const dialect = dialectOf(client);
    checkSqlOptions(options);
    const { table: name, quoted } = resolveTable(dialect, options);
    const ddl = lockTableDdl(dialect, { table: options.table, schema: options.schema });
    this.#leaseOf = (...lease) => new SqlLease(this.#table, ...lease);
    if ('postgres' in client) {
      const table = new PostgresTable(client.postgres, {
        quoted,
        channel: name,
        ddl,
        prepare: options.prepare ?? false,
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
    const extend = this.#table.extendMany?.bind(this.#table);
    if (extend) this.extendMany = (leases, ttl) => extendMany(extend, leases, ttl);
    this.#cursors = new ListCursors('sql', dialect, quoted);
    this.#evictions = new Evictions(new RowEvictions(this.#table), this.#observers);
    this.#sweeper = new Sweeper(this.#table);
  }

  /** Makes the table if it does not exist. Safe to call in every process at the same time. */
  async createTable(): Promise<void> {
    await retried(() => this.#table.create());
  }

  /** Rejects with `LockPermitsError` if others share the key with other permits. */
  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    const { permits } = request;
    const claim = claimOf(request);
    return isShared(permits) ? this.#takePermit(claim, permits) : this.#takeRow(claim);
  }

  async inspect(key: string): Promise<LockInspection | undefined> {
    return (await retried(() => this.#table.inspect(key))).value;
  }

  askHolder(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    return this.#evictions.ask(named, grace);
  }

  evict(request: EvictRequest): Promise<HolderAnswer> {
    return this.#evictions.take(request);
  }

  /** In the order of the keys. */
  list(query: LockListQuery): Promise<LockPage> {
    return listRows(this.#table, this.#cursors, query);
  }

  /**
   * Reports when an idle connection of a `pg.Pool` was lost, when the clock of the database was set, and evictions. After a loss,
   * the server that took over may not know of every lock.
   */
  observe(tell: (notice: StoreNotice) => void): void {
    this.#observers.add(tell);
    if (this.#closers.length > 0) return;
    this.#closers.push(watchConnections(this.#pool, (reason) => this.#observers.doubt(reason)));
    this.#clocks = this.#watchClock();
  }

  /** Closes the connection that listens. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0)) close();
    this.#clocks = undefined;
    await this.#queue?.close();
  }

  #watchClock(): ClockWatch | undefined {
    const table = this.#table;
    const time = table.time?.bind(table);
    if (!time) return undefined;
    const clocks = new ClockWatch(
      () => [{ name: 'the database', time }],
      (name, by) => this.#observers.doubt(whySet(name, by)),
    );
    for (const each of [table, table.permits]) each.holds = (ttl) => clocks.holds(ttl);
    this.#closers.push(() => clocks.close());
    return clocks;
  }

  async #takeRow(claim: Claim): Promise<Lease | undefined> {
    const value = await this.#attempt(claim, this.#table, () => this.#table.acquire(claim));
    return value === undefined ? undefined : this.#leaseOf(claim.key, claim.token, value);
  }

  async #takePermit(claim: Claim, asked: number): Promise<Lease | undefined> {
    const { key, token } = claim;
    const { permits } = this.#table;
    const answer = await this.#attempt(claim, permits, () => permits.acquire(claim, asked));
    if (answer.isGranted) return new SqlLease(permits, key, token);
    const { inUse = asked } = answer;
    if (inUse !== asked) throw new LockPermitsError(key, asked, inUse);
    return undefined;
  }

  async #attempt<T>(
    { key, token, ttl }: Claim,
    holdings: Holdings,
    send: () => Promise<T>,
  ): Promise<T> {
    try {
      const { value } = await retried(send);
      this.#sweeper.lockTaken();
      this.#clocks?.holds(ttl);
      return value;
    } catch (error) {
      takeBack(holdings, key, token, ttl);
      throw error;
    }
  }

  async #wait(queue: PostgresQueue, request: AcquireRequest, signal: AbortSignal): Promise<Lease> {
    const fencingToken = await queue.wait(claimOf(request), signal);
    return this.#leaseOf(request.key, request.token, fencingToken);
  }
}
