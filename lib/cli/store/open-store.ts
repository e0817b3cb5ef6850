import type { LockStore } from '../../core/contract/lock-store.js';
import { reasonOf } from '../../core/contract/safe-error.js';
import { show } from '../../core/options/option-values.js';
import { usageError } from '../output/command-error.js';
import type { OpenedStore, StoreSettings } from './opened-store.js';
import { openRedis, openRedlock } from './redis-stores.js';
import { openEtcd, openZooKeeper } from './session-stores.js';
import { openMysql, openPostgres, openSqlite } from './sql-stores.js';
import { schemeOf } from './store-url.js';

type Open = (url: string, settings: StoreSettings) => OpenedStore | Promise<OpenedStore>;

const STORES: Readonly<Record<string, Open>> = {
  redis: openRedis,
  rediss: openRedis,
  redlock: openRedlock,
  etcd: openEtcd,
  etcds: openEtcd,
  zookeeper: openZooKeeper,
  postgres: openPostgres,
  postgresql: openPostgres,
  mysql: openMysql,
  mariadb: (url, settings) => openMysql(url.replace(/^mariadb/i, 'mysql'), settings),
  sqlite: openSqlite,
};

const EXAMPLE = '--store redis://localhost:6379, HOLDFAST_STORE or store in holdfast.config.mjs';

/** `store`: a URL, a store, or a function that returns one of them. Throws `CommandError`. */
export async function openStore(store: unknown, settings: StoreSettings): Promise<OpenedStore> {
  const given = typeof store === 'function' ? await made(store as () => unknown) : store;
  if (given === undefined || given === '')
    throw usageError(`name the store of the locks: ${EXAMPLE}`);
  if (isStore(given)) return { store: given, close: async () => {} };
  if (typeof given !== 'string')
    throw usageError(`store must be a URL or a store, got ${show(given)}`);
  const scheme = schemeOf(given);
  const open = Object.hasOwn(STORES, scheme) ? STORES[scheme] : undefined;
  if (open) return open(given, settings);
  throw usageError(
    `the URL of a store begins with one of ${Object.keys(STORES).join(':, ')}:, as redis://localhost:6379 does`,
  );
}

/** Throws `CommandError` where the function of the file does not succeed. */
async function made(make: () => unknown): Promise<unknown> {
  try {
    return await make();
  } catch (cause) {
    throw usageError(`the function that returns the store failed: ${reasonOf(cause)}`);
  }
}

function isStore(value: unknown): value is LockStore {
  const { tryAcquire, supports } = (value ?? {}) as Partial<LockStore>;
  return typeof tryAcquire === 'function' && typeof supports === 'object';
}
