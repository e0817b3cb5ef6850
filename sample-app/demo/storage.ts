import { join } from 'node:path';
import { startRedis } from './redis-server.js';

/** Where the locks of the demo live, and how many processes can share them. What it started ends when this is disposed. */
export interface DemoStorage extends AsyncDisposable {
  readonly store: 'redis' | 'sqlite' | 'memory';
  readonly processes: number;
  readonly env: NodeJS.ProcessEnv;
}

const FLEET = 3;

/** What the environment names; else a Redis of its own, where there is one; else a file, for which no server is needed. */
export async function chooseStorage(directory: string, signal: AbortSignal): Promise<DemoStorage> {
  const { REDIS_URL, SQLITE_FILE } = process.env;
  if (REDIS_URL) return onRedis(REDIS_URL);
  if (SQLITE_FILE) return onSqlite(SQLITE_FILE);
  const own = await startRedis(directory, signal);
  if (own) return { ...onRedis(own.url), [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() };
  if (await hasSqlite()) return onSqlite(join(directory, 'locks.db'));
  console.log('Neither a redis-server nor SQLite is there: one process.\n');
  return { store: 'memory', processes: 1, env: {}, [Symbol.asyncDispose]: nothing };
}

function onRedis(url: string): DemoStorage {
  const env = { REDIS_URL: url };
  return { store: 'redis', processes: FLEET, env, [Symbol.asyncDispose]: nothing };
}

function onSqlite(file: string): DemoStorage {
  const env = { SQLITE_FILE: file };
  return { store: 'sqlite', processes: FLEET, env, [Symbol.asyncDispose]: nothing };
}

function hasSqlite(): Promise<boolean> {
  return import('libsql').then(
    () => true,
    () => false, // no build of it for this platform
  );
}

async function nothing(): Promise<void> {}
