import { createPool as createCallbackPool } from 'mysql2';
import { createPool } from 'mysql2/promise';
import { LockService } from 'nest-holdfast';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { openPool } from '../postgres/postgres-pool.js';

/** Longer than an answer may take, on a busy machine too. */
const WITHIN = { within: 60_000, every: 50 };
/** Connections of a pool, all of which come to hang. */
const SIZE = 2;

interface Opened {
  readonly client: SqlClient;
  end(): Promise<unknown>;
}

function postgres(url: string): Opened {
  const pool = openPool(url, { max: SIZE });
  return { client: { postgres: pool }, end: () => pool.end() };
}

function mysql(uri: string): Opened {
  const pool = createPool({ uri, connectionLimit: SIZE });
  return { client: { mysql: pool }, end: () => pool.end() };
}

function callbacks(uri: string): Opened {
  const pool = createCallbackPool({ uri, connectionLimit: SIZE });
  return { client: { mysql: pool }, end: () => pool.promise().end() };
}

describe.each([
  ['pg', () => PostgresServer.shared(), postgres],
  ['mysql2/promise', () => MariaDbServer.shared(), mysql],
  ['mysql2', () => MariaDbServer.shared(), callbacks],
] as const)('A server that hangs behind a pool of %s, and is replaced,', (_, start, open) => {
  let server: PostgresServer | MariaDbServer;
  let proxy: TcpProxy;
  let pool: Opened;
  let locks: LockService;
  let count = 0;

  beforeEach(async () => {
    server = await start();
    const direct = open(server.url);
    await new SqlLockStore(direct.client).createTable();
    await direct.end();
    proxy = await TcpProxy.start(server.port);
    pool = open(server.urlAt(proxy.port));
    locks = new LockService(new SqlLockStore(pool.client), { ttl: 60_000, storeTimeout: 300 });
  });

  afterEach(async () => {
    proxy.pass();
    await locks.close();
    proxy.cutAll();
    await pool.end().catch(() => {});
    await proxy.stop();
    await server.stop();
  });

  /** As many as the pool has connections. */
  const attempts = () =>
    Promise.allSettled(
      Array.from({ length: SIZE }, () => locks.tryAcquire(`order:${(count += 1)}`)),
    );

  it('costs the connections that it has asked, and locks come back; a lock that was held is kept', async () => {
    await attempts();
    const held = await locks.acquire('held');
    proxy.replies.drop();
    const failed = await attempts();
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    proxy.pass(); // earlier queries are never answered
    await until(() => locks.withLock('next', async () => true), WITHIN);
    expect(await until(() => held.extend(60_000).then(() => true), WITHIN)).toBe(true);
    expect(await held.release()).toBe(true);
  });

  it('costs the connections that were being made', async () => {
    proxy.replies.drop();
    await attempts();
    proxy.pass();
    await until(() => locks.withLock('next', async () => true), WITHIN);
  });
});
