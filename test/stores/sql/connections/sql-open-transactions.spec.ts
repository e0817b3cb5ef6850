import { LockService } from 'nest-holdfast';
import { type SqlClient, SqlLockStore } from 'nest-holdfast/sql';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import { rejectionOf } from '../../../core/support/outcome.js';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { until } from '../../../support/until.js';

const KEY = 'order:42';

/** One connection, which the locks share with transactions of the application. */
interface Shared {
  readonly client: SqlClient;
  run(sql: string): Promise<unknown>;
  end(): Promise<void>;
}

async function onPostgres(url: string): Promise<Shared> {
  const client = new Client(url);
  await client.connect();
  return { client: { postgres: client }, run: (sql) => client.query(sql), end: () => client.end() };
}

/** As versions of `pg` are that do not tell of their transactions. */
async function onOlderPostgres(url: string): Promise<Shared> {
  const shared = await onPostgres(url);
  const { postgres } = shared.client as { postgres: Client };
  Object.assign(postgres, { getTransactionStatus: undefined });
  return shared;
}

async function onMariaDb(url: string): Promise<Shared> {
  const connection = await createConnection(url);
  return {
    client: { mysql: connection },
    run: (sql) => connection.query(sql),
    end: () => connection.end(),
  };
}

describe.each([
  ['PostgreSQL', () => PostgresServer.shared(), onPostgres],
  ['PostgreSQL with an older pg', () => PostgresServer.shared(), onOlderPostgres],
  ['MariaDB', () => MariaDbServer.shared(), onMariaDb],
] as const)('One connection of %s for the locks and for transactions', (_, start, open) => {
  let server: PostgresServer | MariaDbServer;
  let shared: Shared;
  let other: Shared;
  let locks: LockService;
  let others: SqlLockStore;

  beforeAll(async () => {
    server = await start();
    [shared, other] = await Promise.all([open(server.url), open(server.url)]);
    others = new SqlLockStore(other.client);
    await others.createTable();
    locks = new LockService(new SqlLockStore(shared.client), { ttl: 30_000 });
  });

  afterAll(async () => {
    await locks.close();
    await Promise.all([shared.end(), other.end()]);
    await server.stop();
  });

  const REFUSED = {
    code: 'LOCK_STORE_FAILED',
    message: expect.stringContaining('a transaction is open on the connection of the locks'),
  };

  it.each(['COMMIT', 'ROLLBACK'])(
    'takes no lock in a transaction that ends with %s',
    async (end) => {
      await shared.run('BEGIN');
      expect(await rejectionOf(locks.acquire(KEY))).toMatchObject(REFUSED);
      expect(await rejectionOf(locks.acquire(KEY, { permits: 2 }))).toMatchObject(REFUSED);
      await shared.run(end);
      await until(async () => (await others.inspect(KEY)) === undefined);
      expect(await (await locks.acquire(KEY)).release()).toBe(true);
    },
  );

  it('takes none in a transaction that begins before the statement is sent', async () => {
    const begun = shared.run('BEGIN');
    expect(await rejectionOf(locks.acquire(KEY))).toMatchObject(REFUSED);
    await begun;
    await shared.run('COMMIT');
    await until(async () => (await others.inspect(KEY)) === undefined);
  });

  it('confirms no extension in a transaction', async () => {
    const lock = await locks.acquire(KEY);
    await shared.run('BEGIN');
    expect(await rejectionOf(lock.extend(30_000))).toMatchObject(REFUSED);
    await shared.run('ROLLBACK');
    await lock.extend(30_000);
    expect(await lock.release()).toBe(true);
  });
});
