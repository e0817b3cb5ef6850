import type { LockStore } from '../../core/contract/lock-store.js';
import type { RedisClient } from '../../redis-client/redis-client.js';

/** How a store is opened, beside its address. */
export interface StoreSettings {
  readonly prefix?: string | undefined;
  /** Milliseconds after which a store without ttls gives up a process: that of the lock. */
  readonly ttl?: number | undefined;
}

export interface OpenedStore {
  readonly store: LockStore;
  /** The clients of the servers, one for each node, where the store is on Redis. */
  readonly redis?: readonly RedisClient[];
  /** Milliseconds after which the servers free what a process held that they hear nothing of. Missing: the store has ttls. */
  readonly sessionTimeout?: number;
  /** Closes the clients. The store is closed before. Never rejects. */
  close(): Promise<void>;
}
