import { createPool } from 'mysql2/promise';
import { SqlLockStore } from 'nest-holdfast/sql';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { storeFaults } from '../../../support/faults/store-faults.js';

describe('A MariaDB that is', () => {
  let server: MariaDbServer;

  storeFaults({
    startServer: async () => {
      server = await MariaDbServer.start();
      const pool = createPool(server.url);
      await new SqlLockStore({ mysql: pool }).createTable();
      await pool.end();
      return server;
    },
    portsOf: ({ port }) => [port],
    openStore: ([port]) => {
      const pool = createPool({ uri: server.urlAt(port!), connectionLimit: 3 });
      return { store: new SqlLockStore({ mysql: pool }), close: () => pool.end() };
    },
    life: 4_000,
    refusesWaiters: true, // it polls, and a server may be away for longer than a statement is sent again
    leftovers: async () => {
      const pool = createPool(server.url);
      const sql = 'SELECT `key`, token FROM holdfast_locks WHERE token IS NOT NULL';
      const [rows] = await pool.query(sql);
      await pool.end();
      return rows as unknown[];
    },
  });
});
