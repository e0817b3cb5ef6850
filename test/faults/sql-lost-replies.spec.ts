import { LockService, type LockServiceOptions } from 'nest-holdfast';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import { createPool } from 'mysql2/promise';
import { openPool } from '../stores/postgres-pool.js';
import { MariaDbServer } from '../support/mariadb-server.js';
import { PostgresServer } from '../support/postgres-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { inTime } from './in-time.js';

jest.setTimeout(30_000);

const KEY = 'order:42';

interface Opened {
  readonly client: SqlClient;
  end(): Promise<void>;
}

function onPostgres(url: string): Opened {
  const pool = openPool(url);
  return { client: { postgres: pool }, end: () => pool.end() };
}

function onMariaDb(url: string): Opened {
  const pool = createPool(url);
  return { client: { mysql: pool }, end: () => pool.end() };
}

describe.each([
  ['PostgreSQL', () => PostgresServer.start(), onPostgres],
  ['MariaDB', () => MariaDbServer.start(), onMariaDb],
] as const)('trap-11 When the reply of %s is lost', (_, start, open) => {
  let server: PostgresServer | MariaDbServer;
  let proxy: TcpProxy;
  let admin: Opened;
  let store: SqlLockStore;
  let remote: Opened;
  let locks: LockService;

  beforeAll(async () => {
    server = await start();
    proxy = await TcpProxy.start(server.port);
    admin = open(server.url);
    store = new SqlLockStore(admin.client);
    await store.createTable();
  });

  afterEach(async () => {
    proxy.pass();
    proxy.cutAll();
    await locks.close();
    await remote.end();
  });

  afterAll(async () => {
    await admin.end();
    await proxy.stop();
    await server.stop();
  });

  const isTaken = async () => (await store.inspect(KEY)) !== undefined;
  const isFree = async () => !(await isTaken());

  async function connect(options: LockServiceOptions = {}): Promise<void> {
    remote = open(server.urlAt(proxy.port));
    locks = new LockService(new SqlLockStore(remote.client), { ttl: 30_000, ...options });
    await locks.withLock('warm-up', async () => {});
  }

  it('an acquire is sent again, finds its own token and has won', async () => {
    await connect();
    proxy.replies.drop();
    const acquiring = locks.acquire(KEY);
    await until(isTaken);
    proxy.pass();
    proxy.cutAll();
    const lock = await inTime(5_000, acquiring);
    expect(lock.isHeld).toBe(true);
    expect(await lock.release()).toBe(true);
  });

  it('an acquire that was given up is taken back as soon as there is a connection', async () => {
    await connect();
    proxy.replies.drop();
    const acquiring = locks.acquire(KEY, { waitTimeout: 200 });
    await expect(acquiring).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(await isTaken()).toBe(true);
    proxy.pass();
    proxy.cutAll();
    await until(isFree);
  });

  it('an acquire that failed for good is taken back when the server is reached again', async () => {
    await connect({ storeTimeout: 10_000 });
    proxy.replies.drop();
    const failed = expect(locks.acquire(KEY)).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    await until(isTaken);
    proxy.refuse();
    proxy.cutAll();
    await failed;
    expect(await isTaken()).toBe(true);
    proxy.pass();
    await proxy.accept();
    await until(isFree);
  });

  it('a release is not confirmed, and the key is free', async () => {
    await connect();
    const lock = await locks.acquire(KEY);
    proxy.replies.drop();
    const released = lock.release();
    await until(isFree);
    proxy.pass();
    proxy.cutAll();
    expect(await released).toBe(false);
  });
});
