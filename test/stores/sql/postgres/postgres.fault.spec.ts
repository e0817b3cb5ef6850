import { SqlLockStore } from 'nest-holdfast/sql';
import { openPool } from './postgres-pool.js';
import { PostgresServer } from '../../../support/servers/postgres-server.js';
import { storeFaults } from '../../../support/faults/store-faults.js';

describe('A PostgreSQL that is', () => {
  let server: PostgresServer;

  storeFaults({
    startServer: async () => {
      server = await PostgresServer.start();
      const pool = openPool(server.url);
      await new SqlLockStore({ postgres: pool }).createTable();
      await pool.end();
      return server;
    },
    portsOf: ({ port }) => [port],
    openStore: ([port]) => {
      const pool = openPool(server.urlAt(port!), { max: 3 });
      return { store: new SqlLockStore({ postgres: pool }), close: () => pool.end() };
    },
    life: 4_000,
    leftovers: async () => {
      const pool = openPool(server.url);
      const sql = `SELECT convert_from(key, 'UTF8'), token, queue FROM holdfast_locks WHERE token IS NOT NULL OR queue <> '[]'`;
      const { rows } = await pool.query(sql);
      await pool.end();
      return rows;
    },
  });
});
