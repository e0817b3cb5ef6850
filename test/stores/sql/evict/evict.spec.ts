import Database from 'libsql';
import { createPool } from 'mysql2/promise';
import type { EvictRequest } from 'nest-holdfast/core';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { evictUntilReleased, useEvictions } from '../../support/evictions.js';
import { openPool } from '../postgres/postgres-pool.js';

/** `stop` closes what was opened. */
interface Opened {
  readonly client: SqlClient;
  stop(): unknown;
}

const DATABASES: [string, () => Promise<Opened>][] = [
  ['SQLite', openSqlite],
  ['PostgreSQL', openPostgres],
  ['MariaDB', openMariaDb],
];

describe.each(DATABASES)('On %s, an eviction', (_, open) => {
  const setup = useEvictions({
    start: async () => {
      const opened = await open();
      await new SqlLockStore(opened.client).createTable();
      return opened;
    },
    open: ({ client }) => new SqlLockStore(client),
    keyPrefix: `order:'"\0é`,
  });

  it('takes the key from the named holder, which learns of it at its next extension', async () => {
    const { holder, operator, key } = setup;
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
    const { holder, operator, key } = setup;
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
    const { holder, operator, key } = setup;
    const lock = await operator.acquire(key);
    const eviction = await evictUntilReleased(operator, lock, holder);
    expect(eviction).toMatchObject({ outcome: 'released', tokenBefore: lock.fencingToken });
  });

  it('takes nothing from a later holder, and nothing by a token beyond 64 bits', async () => {
    const { holder, operator, key } = setup;
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
    const { store, holder, operator, key } = setup;
    const { fencingToken } = await holder.acquire(key);
    const request: EvictRequest = { key, keys: [key], token: 'evict-twice', ttl: 5_000, fencingToken }; // prettier-ignore
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
  return { client: { sqlite }, stop: () => sqlite.close() };
}

async function openPostgres(): Promise<Opened> {
  const server = await PostgresServer.shared();
  const postgres = openPool(server.url);
  const stop = async () => {
    await postgres.end();
    await server.stop();
  };
  return { client: { postgres }, stop };
}

async function openMariaDb(): Promise<Opened> {
  const server = await MariaDbServer.shared();
  const mysql = createPool({ uri: server.url, connectionLimit: 8 });
  const stop = async () => {
    await mysql.end();
    await server.stop();
  };
  return { client: { mysql }, stop };
}
