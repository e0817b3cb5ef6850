import { lockStoreConformance } from 'nest-holdfast/testing';
import { SqlLockStore, type SqlLockStoreOptions } from 'nest-holdfast/sql';
import type { Pool } from 'pg';
import { PostgresServer } from '../support/postgres-server.js';
import { openPool } from './postgres-pool.js';

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
    createStore: () => new SqlLockStore({ postgres: pools[opened++ % 2]! }, sql),
  });
});
