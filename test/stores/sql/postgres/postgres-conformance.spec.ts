import { lockStoreConformance } from 'nest-holdfast/testing';
import { SqlLockStore, type SqlLockStoreOptions } from 'nest-holdfast/sql';
import { Client, type Pool } from 'pg';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { LACKED_BY_TABLES } from '../lacked-by-tables.js';
import { openPool } from './postgres-pool.js';

/** Ends what the pools keep open. It is asked by a connection of its own, which takes none from a pool. */
const CUT_IDLE = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE state = 'idle' AND pid <> pg_backend_pid()`;

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.shared();
});

afterAll(() => server.stop());

describe.each<[string, { sql?: SqlLockStoreOptions; options?: string }]>([
  ['by default', {}],
  ['under SERIALIZABLE', { options: '-c default_transaction_isolation=serializable' }],
  ['with prepared statements, and polled', { sql: { prepare: true, listen: false } }],
])('SqlLockStore on PostgreSQL %s', (_, { sql = {}, options = '' }) => {
  let pools: Pool[];
  let opened = 0;

  beforeAll(async () => {
    pools = [0, 1].map(() => openPool(server.url, { options, max: 8 }));
    await new SqlLockStore({ postgres: pools[0]! }).createTable();
  });

  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
  });

  lockStoreConformance({
    test: it,
    lacks: sql.listen === false ? [...LACKED_BY_TABLES, 'queue', 'handOff'] : LACKED_BY_TABLES,
    createStore: () => new SqlLockStore({ postgres: pools[opened++ % 2]! }, sql),
    disconnect: cutIdle,
  });
});

async function cutIdle(): Promise<void> {
  const client = new Client(server.url);
  await client.connect();
  try {
    await client.query(CUT_IDLE);
  } finally {
    await client.end();
  }
}
