import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { SqlLockStore } from 'nest-holdfast/sql';
import type { MysqlClient, SqliteClient } from 'nest-holdfast/sql';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import { EtcdServer } from '../../support/servers/etcd-server.js';
import { MariaDbServer } from '../../support/servers/mariadb-server.js';
import { PostgresServer } from '../../support/servers/postgres-server.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { ZooKeeperServer } from '../../support/servers/zookeeper-server.js';
import { Holdfast, holdfast, objectsOf } from '../support/holdfast.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const STORES: readonly [string, () => Promise<string>][] = [
  ['redis', async () => (await RedisServer.shared()).url],
  ['etcd', async () => (await EtcdServer.shared()).url.replace('http:', 'etcd:')],
  ['zookeeper', async () => `zookeeper://${(await ZooKeeperServer.shared()).url}/cli`],
  ['postgres', () => postgresUrl()],
  ['mysql', () => mysqlUrl()],
  ['sqlite', () => sqliteUrl()],
  ['redlock', () => redlockUrl()],
];
const started: RedisServer[] = [];

async function postgresUrl(): Promise<string> {
  const { url } = await PostgresServer.shared();
  const pool = new Pool({ connectionString: url });
  await new SqlLockStore({ postgres: pool }).createTable();
  await pool.end();
  return url;
}

async function mysqlUrl(): Promise<string> {
  const { url } = await MariaDbServer.shared();
  const pool = createPool(url);
  await new SqlLockStore({ mysql: pool as unknown as MysqlClient }).createTable();
  await pool.end();
  return url;
}

async function sqliteUrl(): Promise<string> {
  const path = join(folder, 'locks.db');
  const database = new Database(path);
  await new SqlLockStore({ sqlite: database as unknown as SqliteClient }).createTable();
  database.close();
  return `sqlite:${path}`;
}

async function redlockUrl(): Promise<string> {
  started.push(...(await Promise.all([1, 2, 3].map(() => RedisServer.start()))));
  return `redlock:${started.map(({ url }) => url).join(',')}`;
}
afterAll(() => Promise.all(started.map((server) => server.stop())));

describe.each(STORES)('a store by its URL: %s', (_name, open) => {
  it('is listed, inspected and locked', async () => {
    const env = { HOLDFAST_STORE: await open() };
    const command = ['sh', '-c', 'echo held; read line'];
    await using run = new Holdfast(['run', 'by-url', '--', ...command], { env, keepsInput: true });
    await run.says('held');

    const { code, stdout, stderr } = await holdfast(['ls', 'by-url', '--json'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(objectsOf(stdout)).toMatchObject([{ key: 'by-url' }]);
    const busy = await holdfast(['run', 'by-url', '--no-wait', '--', 'true'], { env });
    expect(busy.code).toBe(75);

    run.write('\n');
    expect((await run.ended).code).toBe(0);
    expect((await holdfast(['inspect', 'by-url'], { env })).code).toBe(1);
  });
});
