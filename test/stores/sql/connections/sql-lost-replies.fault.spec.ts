import { LockService, type LockServiceOptions } from 'nest-holdfast';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import { createPool } from 'mysql2/promise';
import { openPool } from '../postgres/postgres-pool.js';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { inTime } from '../../../support/faults/in-time.js';

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
  // A connection that the test has cut cannot say goodbye.
  return { client: { mysql: pool }, end: () => pool.end().catch(() => undefined) };
}

/** A server behind a network that a test can break. */
class Bench {
  readonly proxy: TcpProxy;
  locks!: LockService;
  readonly #server: PostgresServer | MariaDbServer;
  readonly #open: (url: string) => Opened;
  readonly #admin: Opened;
  readonly #store: SqlLockStore;
  #remote!: Opened;

  static async start(
    server: PostgresServer | MariaDbServer,
    open: (url: string) => Opened,
  ): Promise<Bench> {
    const bench = new Bench(server, open, await TcpProxy.start(server.port));
    await bench.#store.createTable();
    return bench;
  }

  private constructor(
    server: PostgresServer | MariaDbServer,
    open: (url: string) => Opened,
    proxy: TcpProxy,
  ) {
    this.proxy = proxy;
    this.#server = server;
    this.#open = open;
    this.#admin = open(server.url);
    this.#store = new SqlLockStore(this.#admin.client);
  }

  async connect(options: LockServiceOptions = {}): Promise<LockService> {
    this.#remote = this.#open(this.#server.urlAt(this.proxy.port));
    const store = new SqlLockStore(this.#remote.client);
    this.locks = new LockService(store, { ttl: 30_000, ...options });
    await this.locks.withLock('warm-up', async () => {});
    return this.locks;
  }

  readonly isTaken = async () => (await this.#store.inspect(KEY)) !== undefined;
  readonly isFree = async () => !(await this.isTaken());

  async disconnect(): Promise<void> {
    this.proxy.pass();
    this.proxy.cutAll();
    await this.locks.close();
    await this.#remote.end();
  }

  async stop(): Promise<void> {
    await this.#admin.end();
    await this.proxy.stop();
    await this.#server.stop();
  }
}

describe('When the reply of PostgreSQL, and of MariaDB, is lost', () => {
  let benches: Bench[] = [];

  beforeAll(async () => {
    benches = await Promise.all([
      PostgresServer.start().then((server) => Bench.start(server, onPostgres)),
      MariaDbServer.start().then((server) => Bench.start(server, onMariaDb)),
    ]);
  });

  afterEach(() => Promise.all(benches.map((bench) => bench.disconnect())));

  afterAll(() => Promise.all(benches.map((bench) => bench.stop())));

  /** On both at the same time: most of it is waiting. */
  function onBoth(run: (bench: Bench) => Promise<void>): () => Promise<void> {
    return async () => void (await Promise.all(benches.map(run)));
  }

  it(
    'an acquire is sent again, finds its own token and has won',
    onBoth(async (bench) => {
      const { proxy, isTaken } = bench;
      const locks = await bench.connect();
      proxy.replies.drop();
      const acquiring = locks.acquire(KEY);
      await until(isTaken);
      proxy.pass();
      proxy.cutAll();
      const lock = await inTime(5_000, acquiring);
      expect(lock.isHeld).toBe(true);
      expect(await lock.release()).toBe(true);
    }),
  );

  it(
    'an acquire that was given up is taken back as soon as there is a connection',
    onBoth(async (bench) => {
      const { proxy, isTaken, isFree } = bench;
      const locks = await bench.connect();
      proxy.replies.drop();
      const acquiring = locks.acquire(KEY, { waitTimeout: 200 });
      await expect(acquiring).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
      await until(isTaken);
      proxy.pass();
      proxy.cutAll();
      await until(isFree);
    }),
  );

  it(
    'an acquire that failed for good is taken back when the server is reached again',
    onBoth(async (bench) => {
      const { proxy, isTaken, isFree } = bench;
      const locks = await bench.connect({ storeTimeout: 10_000 });
      proxy.replies.drop();
      const acquiring = locks.acquire(KEY);
      const failed = expect(acquiring).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
      await until(isTaken);
      proxy.refuse();
      proxy.cutAll();
      await failed;
      expect(await isTaken()).toBe(true);
      proxy.pass();
      await proxy.accept();
      await until(isFree);
    }),
  );

  it(
    'a release is not confirmed, and the key is free',
    onBoth(async (bench) => {
      const { proxy, isFree } = bench;
      const locks = await bench.connect();
      const lock = await locks.acquire(KEY);
      proxy.replies.drop();
      const released = lock.release();
      await until(isFree);
      proxy.pass();
      proxy.cutAll();
      expect(await released).toBe(false);
    }),
  );
});
