// SQLite by libsql, which comes compiled. There is no wire: the statements are counted where they are run, PRAGMAs aside.
import Database from 'libsql';
import { wire } from './wire.mjs';

/** Milliseconds that a connection waits for another one's write, with the event loop of its process. */
const BUSY_TIMEOUT = 1_000;
const { prepare, exec } = Database.prototype;
const isSetting = (sql) => /^\s*PRAGMA/i.test(sql);

class CountedDatabase extends Database {
  prepare(sql) {
    const statement = prepare.call(this, sql);
    if (isSetting(sql)) return statement;
    for (const name of ['run', 'get', 'all']) {
      const run = statement[name];
      statement[name] = (...values) => {
        wire.commands++;
        return run.apply(statement, values);
      };
    }
    return statement;
  }

  exec(sql) {
    if (!isSetting(sql)) wire.commands++;
    return exec.call(this, sql);
  }
}

export { CountedDatabase as Database };

/** A connection of its own to the file, in WAL mode. */
export function openDatabase(file) {
  const database = new CountedDatabase(file, { timeout: BUSY_TIMEOUT });
  database.exec('PRAGMA journal_mode = WAL');
  return database;
}
