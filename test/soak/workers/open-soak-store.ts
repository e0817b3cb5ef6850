import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { MemoryLockStore, RedisLockStore } from 'nest-holdfast';
import { disconnect } from '../../stores/redis/locks.js';
import {
  type OpenStore,
  type StoreAddress,
  openStore,
} from '../../support/histories/workers/open-store.js';

/** The stores of the histories, and those that these have none of: their address is JSON. */
export type SoakKind = StoreAddress['kind'] | 'memory' | 'sentinel' | 'cluster';

const quick = { retryStrategy: () => 20 };

export async function openSoakStore(
  kind: SoakKind,
  address: string,
  life: number,
): Promise<OpenStore> {
  if (kind === 'memory') return { store: new MemoryLockStore(), close: async () => undefined };
  if (kind === 'sentinel') return redisStore(new Redis({ ...options(address), ...quick }));
  if (kind === 'cluster')
    return redisStore(new Cluster(JSON.parse(address), { clusterRetryStrategy: () => 20 }));
  return openStore({ kind, address }, life);
}

function options(address: string): RedisOptions {
  return JSON.parse(address) as RedisOptions;
}

function redisStore(client: Redis | Cluster): OpenStore {
  client.on('error', () => {}); // the commands say what matters here
  return { store: new RedisLockStore(client), close: async () => disconnect(client) };
}
