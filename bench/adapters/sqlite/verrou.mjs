import knex from 'knex';
import BetterSqlite3 from 'knex/lib/dialects/better-sqlite3/index.js';
import { openDatabase } from '../../lib/sqlite.mjs';
import { verrou } from '../../lib/verrou.mjs';

/** Knex's dialect for better-sqlite3 on the same driver as the others, which has the same interface. */
class Libsql extends BetterSqlite3 {
  _driver() {
    return openDatabase;
  }

  async acquireRawConnection() {
    return openDatabase(this.connectionSettings.filename);
  }
}

const open = (filename) =>
  knex({ client: Libsql, connection: { filename }, useNullAsDefault: true });

export default () => verrou('sqlite', open, "Knex store on libsql by Knex's better-sqlite3, WAL");
