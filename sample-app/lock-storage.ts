import type { DistributedLockModuleOptions } from 'nest-holdfast';
import { SqlLockStore } from 'nest-holdfast/sql';

/** Where the locks live: Redis, a file for the processes of one machine, or else this process alone. */
export async function lockStorage(): Promise<DistributedLockModuleOptions> {
  const { REDIS_URL, SQLITE_FILE } = process.env;
  if (REDIS_URL) return { redis: REDIS_URL };
  if (SQLITE_FILE) return { store: await locksIn(SQLITE_FILE) };
  return {};
}

async function locksIn(file: string): Promise<SqlLockStore> {
  const { default: Database } = await import('libsql');
  const store = new SqlLockStore({ sqlite: new Database(file) });
  await store.createTable();
  return store;
}
