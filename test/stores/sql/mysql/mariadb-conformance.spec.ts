import { lockStoreConformance } from 'nest-holdfast/testing';
import { SqlLockStore } from 'nest-holdfast/sql';
import { createPool } from 'mysql2';
import { createPool as createPromisePool } from 'mysql2/promise';
import { MariaDbServer } from '../../../support/servers/mariadb-server.js';
import { LACKED_BY_TABLES } from '../lacked-by-tables.js';

let server: MariaDbServer;

beforeAll(async () => {
  server = await MariaDbServer.shared();
});

afterAll(() => server.stop());

describe('SqlLockStore on MariaDB with pools of mysql2/promise', () => {
  conformance((uri) => createPromisePool({ uri, connectionLimit: 8 }));
});

describe('SqlLockStore on MariaDB with pools of mysql2 whose options change every answer', () => {
  conformance((uri) =>
    createPool({
      uri,
      connectionLimit: 8,
      flags: ['-FOUND_ROWS'],
      supportBigNumbers: true,
      bigNumberStrings: true,
      rowsAsArray: true,
      namedPlaceholders: true,
      timezone: '+05:00',
    }),
  );
});

type Pool = ReturnType<typeof createPool> | ReturnType<typeof createPromisePool>;

/** Two pools stand for two processes. */
function conformance(open: (uri: string) => Pool): void {
  let pools: Pool[];
  let opened = 0;

  beforeAll(async () => {
    pools = [open(server.url), open(server.url)];
    await new SqlLockStore({ mysql: pools[0]! }).createTable();
  });

  afterAll(async () => {
    await Promise.all(pools.map((pool) => ('promise' in pool ? pool.promise().end() : pool.end())));
  });

  lockStoreConformance({
    test: it,
    lacks: [...LACKED_BY_TABLES, 'extendMany', 'queue', 'handOff'],
    createStore: () => new SqlLockStore({ mysql: pools[opened++ % 2]! }),
  });
}
