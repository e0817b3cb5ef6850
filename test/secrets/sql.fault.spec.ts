import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, createPool } from 'mysql2/promise';
import { SqlLockStore } from 'nest-holdfast/sql';
import { Client, Pool } from 'pg';
import { freePort } from '../support/processes/free-port.js';
import { MariaDbServer } from '../support/servers/mariadb-server.js';
import { PostgresServer } from '../support/servers/postgres-server.js';
import { SECRET, expectNoLeaks, leaks, linesOf, play } from './support/play.js';

jest.setTimeout(180_000);

const HOST = '127.0.0.1';
const ACCESS = `host all postgres ${HOST}/32 trust\nhost all all ${HOST}/32 scram-sha-256\n`;

/** Asks for the password of every user but `postgres`. */
describe('No secret of PostgreSQL is printed, logged, told or answered', () => {
  let folder: string;
  let server: PostgresServer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-access-'));
    const file = join(folder, 'pg_hba.conf');
    await writeFile(file, ACCESS);
    await chmod(folder, 0o755); // the server may run as another user
    server = await PostgresServer.start({ settings: { hba_file: file } });
    const pool = new Pool({ connectionString: server.url });
    await new SqlLockStore({ postgres: pool }).createTable();
    await pool.query(`CREATE ROLE other LOGIN PASSWORD 'another'`);
    await pool.query(`CREATE ROLE confined LOGIN PASSWORD '${SECRET}'`);
    await pool.query(`CREATE ROLE locker LOGIN PASSWORD '${SECRET}'`);
    await pool.query('GRANT ALL ON ALL TABLES IN SCHEMA public TO locker');
    await pool.end();
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  const urlOf = (user: string, port = server.port) =>
    `postgres://${user}:${SECRET}@${HOST}:${port}/postgres`;

  it('while no lock can be taken', async () => {
    const nobody = await freePort();
    await expectNoLeaks({
      refused: [{ store: { postgres: { connectionString: urlOf('other') } } }, /28P01|password authentication failed/], // prettier-ignore
      confined: [{ store: { postgres: { connectionString: urlOf('confined') } } }, /permission denied/], // prettier-ignore
      tableless: [{ store: { postgres: { connectionString: urlOf('locker') }, table: 'none' } }, /createTable/], // prettier-ignore
      down: [{ hangs: true, store: { postgres: { connectionString: urlOf('locker', nobody) } } }, /ECONNREFUSED|no answer/], // prettier-ignore
      'a URL': [{ store: { postgresUrl: urlOf('locker') } }, /must be a pg.Pool/],
    });
  });

  it('when the password is changed while locks are held and awaited', async () => {
    const store = { postgres: { connectionString: urlOf('locker') } };
    const output = await play(
      { rotated: { store, whileHeld: true } },
      {
        rotated: async () => {
          const client = new Client({ connectionString: server.url });
          await client.connect();
          await client.query(`ALTER ROLE locker PASSWORD 'rotated'`);
          await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'locker'`); // prettier-ignore
          await client.end();
        },
      },
    );
    expect(leaks(output)).toEqual([]);
    expect(linesOf(output, 'rotated')).toMatch(/ jeopardy\]/);
    expect(linesOf(output, 'rotated')).toMatch(/ lost\].*LOCK_LOST/);
    expect(output).toContain('password authentication failed');
  });
});

describe('No secret of MariaDB is printed, logged, told or answered', () => {
  let server: MariaDbServer;

  beforeAll(async () => {
    server = await MariaDbServer.start();
    await asRoot(
      `CREATE USER other IDENTIFIED BY 'another'`,
      `CREATE USER confined IDENTIFIED BY '${SECRET}'`,
      `CREATE USER locker IDENTIFIED BY '${SECRET}'`,
      'GRANT SELECT ON holdfast.* TO confined',
      'GRANT ALL ON holdfast.* TO locker',
    );
    const pool = createPool(server.url);
    await new SqlLockStore({ mysql: pool }).createTable();
    await pool.end();
  });
  afterAll(() => server.stop());

  async function asRoot(...statements: readonly string[]): Promise<void> {
    const connection = await createConnection(server.url);
    for (const statement of statements) await connection.query(statement);
    await connection.end();
  }

  const options = (user: string, port = server.port) => ({
    mysql: { uri: `mysql://${user}:${SECRET}@${HOST}:${port}/holdfast` },
  });

  it('while no lock can be taken', async () => {
    const nobody = await freePort();
    await expectNoLeaks({
      refused: [{ store: options('other') }, /Access denied/],
      confined: [{ store: options('confined') }, /denied|createTable/],
      tableless: [{ store: { ...options('locker'), table: 'none' } }, /LOCK_STORE_FAILED/],
      down: [{ hangs: true, store: options('locker', nobody) }, /ECONNREFUSED|no answer/],
      sqlite: [{ store: { sqlite: ':memory:' } }, /createTable/],
    });
  });

  it('when the server is killed while locks are held and awaited', async () => {
    const output = await play(
      { killed: { store: options('locker'), hangs: true, whileHeld: true } },
      { killed: () => server.kill() },
    );
    expect(leaks(output)).toEqual([]);
    expect(linesOf(output, 'killed')).toMatch(/ jeopardy\]/);
    expect(linesOf(output, 'killed')).toMatch(/ lost\].*LOCK_LOST/);
  });
});
