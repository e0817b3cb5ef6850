import { reasonOf } from '../../core/contract/safe-error.js';
import { quoted } from '../../core/text/printable.js';
import { SqlLockStore } from '../../stores/sql/index.js';
import type { MysqlClient, SqlClient, SqliteClient } from '../../stores/sql/index.js';
import { CommandError, usageError } from '../output/command-error.js';
import { ExitCode } from '../output/exit-codes.js';
import { loadClient } from './load-client.js';
import type { OpenedStore, StoreSettings } from './opened-store.js';
import { checkDecodable, checkUrl } from './store-url.js';

interface Closing {
  end(): Promise<unknown>;
}

export function openPostgres(url: string, settings: StoreSettings): OpenedStore {
  checkUrl(url);
  const { Pool } = loadClient('pg') as typeof import('pg');
  const pool = new Pool({ connectionString: url, application_name: 'holdfast', max: 4 });
  pool.on('error', () => {}); // an idle connection: the store tells the next call that fails
  return opened({ postgres: pool }, settings, () => settled(pool));
}

export function openMysql(url: string, settings: StoreSettings): OpenedStore {
  checkDecodable(url);
  const { createPool } = loadClient('mysql2/promise') as typeof import('mysql2/promise');
  const pool = createPool({ uri: url, connectionLimit: 4 });
  return opened({ mysql: pool as unknown as MysqlClient }, settings, () => settled(pool));
}

/** `sqlite:locks.db`, or `sqlite:///var/lib/locks.db`. */
export function openSqlite(url: string, settings: StoreSettings): OpenedStore {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '') throw usageError('sqlite: needs the path of the file: sqlite:locks.db');
  const database = openDatabase(path);
  return opened({ sqlite: database }, settings, async () => void database.close());
}

type Database = SqliteClient & { close(): unknown };

/** By the first of the clients that is installed. */
function openDatabase(path: string): Database {
  for (const name of ['better-sqlite3', 'libsql', 'node:sqlite']) {
    const Client = clientOf(name);
    if (Client) return opening(path, () => new Client(path));
  }
  throw usageError(
    'this store needs the package better-sqlite3: npm install nest-holdfast better-sqlite3',
  );
}

function opening<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (cause) {
    const message = `the database ${quoted(path)} cannot be opened: ${reasonOf(cause)}`;
    throw new CommandError(ExitCode.storeDown, message, { cause });
  }
}

function clientOf(name: string): (new (path: string) => Database) | undefined {
  try {
    const module = loadClient(name) as { readonly DatabaseSync?: unknown };
    return (module.DatabaseSync ?? module) as new (path: string) => Database;
  } catch {
    return undefined; // not installed, or not of this Node
  }
}

function opened(
  client: SqlClient,
  { prefix }: StoreSettings,
  close: () => Promise<void>,
): OpenedStore {
  const store = new SqlLockStore(client, prefix === undefined ? {} : { table: prefix });
  return { store, close };
}

async function settled(pool: Closing): Promise<void> {
  await Promise.allSettled([pool.end()]);
}
