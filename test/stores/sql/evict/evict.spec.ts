import Database from 'libsql';
import { createPool } from 'mysql2/promise';
import type { EvictRequest } from 'nest-holdfast/core';
import { LockService } from 'nest-holdfast/core';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { until } from '../../../support/until.js';
import { openPool } from '../postgres/postgres-pool.js';

/** Closes what it has opened. */
interface Opened {
  readonly client: SqlClient;
  close(): unknown;
}

const DATABASES: [string, () => Promise<Opened>][] = [
  ['SQLite', openSqlite],
  ['PostgreSQL', openPostgres],
  ['MariaDB', openMariaDb],
];

describe.each(DATABASES)('On %s, an eviction', (_, open) => {
  let opened: Opened;
  let holder: LockService;
  let operator: LockService;
  let store: SqlLockStore;
  let key: string;
  let keys = 0;

  beforeAll(async () => {
    opened = await open();
    store = new SqlLockStore(opened.client);
    await store.createTable();
    holder = new LockService(new SqlLockStore(opened.client));
    operator = new LockService(store);
  });
  afterAll(async () => {
    await Promise.all([holder.close(), operator.close()]);
    await opened.close();
  });
  beforeEach(() => {
    key = `order:'"\0é${++keys}`;
  });

  it('takes the key from the named holder, which learns of it at its next extension', async () => {
    const lock = await holder.acquire(key);
    const { fencingToken } = lock;
    const eviction = await operator.evict(key, { fencingToken, grace: 0 });
    expect(eviction).toMatchObject({ outcome: 'taken', tokenBefore: fencingToken });
    expect(eviction.holder).toMatch(/^.+:\d+:\d+$/);
    expect(await operator.inspect(key)).toBeUndefined();
    const next = await operator.acquire(key);
    expect(next.fencingToken > eviction.tokenAfter!).toBe(true);
    await expect(lock.extend(30_000)).rejects.toMatchObject({ code: 'LOCK_LOST', reason: 'gone' });
    expect(await lock.release()).toBe(false);
    expect(await next.release()).toBe(true);
  });

  it('hands the key to the next waiter', async () => {
    const lock = await holder.acquire(key);
    const waiting = operator.acquire(key, { waitTimeout: 60_000 });
    const { fencingToken } = lock;
    const { tokenAfter } = await operator.evict(key, { fencingToken, grace: 0 });
    const next = await waiting;
    expect(next.fencingToken > tokenAfter!).toBe(true);
    expect(await lock.release()).toBe(false);
    expect(await next.release()).toBe(true);
  });

  it('tells a holder of its own process, which keeps the key until its work has ended', async () => {
    const lock = await operator.acquire(key);
    const { fencingToken } = lock;
    const evicted = operator.evict(key, { fencingToken, grace: 60_000 });
    await until(() => lock.signal.aborted);
    expect(lock.signal.reason).toMatchObject({ reason: 'revoked' });
    expect(await holder.tryAcquire(key)).toBeUndefined();
    await lock.release();
    expect(await evicted).toMatchObject({ outcome: 'released', tokenBefore: fencingToken });
  });

  it('takes nothing from a later holder, and nothing by a token beyond 64 bits', async () => {
    const first = await holder.acquire(key);
    await first.release();
    const next = await holder.acquire(key);
    for (const fencingToken of [first.fencingToken, next.fencingToken + 1n, 2n ** 64n + 1n]) {
      const eviction = await operator.evict(key, { fencingToken, grace: 0 });
      expect(eviction).toMatchObject({ outcome: 'not-held', tokenBefore: next.fencingToken });
    }
    await next.extend(30_000);
    expect(await next.release()).toBe(true);
  });

  it('whose answer was lost is made once, and leaves nothing behind', async () => {
    const { fencingToken } = await holder.acquire(key);
    const request: EvictRequest = { key, keys: [key], token: `evict-${keys}`, ttl: 5_000, fencingToken }; // prettier-ignore
    const first = await store.evict(request);
    const again = await store.evict(request);
    expect([first.state, again.state]).toEqual(['taken', 'taken']);
    expect(await again.taken!.release()).toBe(true);
    expect(await first.taken!.release()).toBe(false);
    expect(await operator.inspect(key)).toBeUndefined();
  });
});

async function openSqlite(): Promise<Opened> {
  const sqlite = new Database(':memory:');
  return { client: { sqlite }, close: () => sqlite.close() };
}

async function openPostgres(): Promise<Opened> {
  const server = await PostgresServer.shared();
  const postgres = openPool(server.url);
  const close = async () => {
    await postgres.end();
    await server.stop();
  };
  return { client: { postgres }, close };
}

async function openMariaDb(): Promise<Opened> {
  const server = await MariaDbServer.shared();
  const mysql = createPool({ uri: server.url, connectionLimit: 8 });
  const close = async () => {
    await mysql.end();
    await server.stop();
  };
  return { client: { mysql }, close };
}
