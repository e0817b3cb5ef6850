import type { Redis, RedisOptions } from 'ioredis';
import { systemClock } from '../../core/async/clock.js';
import { waitAtMost } from '../../core/async/sleep.js';
import { leaveOtherDatabase } from '../../redis-client/refused-database.js';
import { wrongOfUrl } from '../../redis-client/redis-url.js';
import { RedisLockStore } from '../../stores/redis/redis-lock.store.js';
import { RedlockStore } from '../../stores/redlock/index.js';
import { usageError } from '../output/command-error.js';
import { loadClient } from './load-client.js';
import type { OpenedStore, StoreSettings } from './opened-store.js';
import { checkDecodable } from './store-url.js';

/** Milliseconds for a client to say goodbye. */
const QUIT_WITHIN = 500;
const NODES = /,(?=rediss?:\/\/)/i;

/** The connection of a server that hangs is given up after `socketTimeout` ms. */
const CLIENT_OPTIONS: RedisOptions = { connectionName: 'holdfast', socketTimeout: 8_000 };

export function openRedis(url: string, settings: StoreSettings): OpenedStore {
  const client = connect(url);
  return { store: storeOn(client, settings), redis: [client], close: () => quit([client]) };
}

/** `redlock:redis://a,redis://b,redis://c`. */
export function openRedlock(url: string, settings: StoreSettings): OpenedStore {
  const urls = url.slice('redlock:'.length).split(NODES);
  if (urls.length < 3) {
    throw usageError(
      'redlock: needs the URLs of at least three servers: redlock:redis://a:6379,redis://b:6379,redis://c:6379',
    );
  }
  const clients = urls.map((each) => connect(each));
  const { ttl } = settings;
  const store = new RedlockStore(
    clients.map((client) => storeOn(client, settings)),
    { ...(ttl !== undefined && { largestTtl: Math.max(ttl, 30_000) }) },
  );
  return { store, redis: clients, close: () => quit(clients) };
}

/** Another client, for what is not of the store. It stays open until the process ends. */
export function connect(url: string, options: RedisOptions = {}): Redis {
  if (!/^rediss?:\/\//i.test(url))
    throw usageError('the URL of a Redis begins with redis:// or rediss://');
  checkDecodable(url);
  const wrong = wrongOfUrl(url);
  if (wrong !== undefined) throw usageError(`the URL of a Redis ${wrong}`);
  const { Redis: Client } = loadClient('ioredis') as typeof import('ioredis');
  const client = new Client(url, { ...CLIENT_OPTIONS, ...options });
  leaveOtherDatabase(client);
  client.on('error', () => {}); // the store tells the last one with the call that fails
  return client;
}

function storeOn(client: Redis, { prefix }: StoreSettings): RedisLockStore {
  const options = prefix === undefined ? {} : { keyPrefix: prefix };
  return new RedisLockStore(client, { ...options, serverChecks: false });
}

/** Never rejects. */
async function quit(clients: readonly Redis[]): Promise<void> {
  const connected = clients.filter((client) => client.status === 'ready');
  const goodbyes = connected.map((client) => client.quit());
  await waitAtMost(systemClock, QUIT_WITHIN, Promise.allSettled(goodbyes));
  for (const client of clients) client.disconnect();
}
