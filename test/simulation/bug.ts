import type { Clock } from '../../lib/core/async/clock.js';
import type { LockStore } from '../../lib/core/contract/lock-store.js';
import type { LockService } from '../../lib/core/lock.service.js';
import type { LockOptions } from '../../lib/core/options/lock-options.js';
import type { MemoryLockStore } from '../../lib/stores/memory/memory-lock.store.js';
import type { RedisLockStoreOptions } from '../../lib/stores/redis/redis-lock-options.js';
import type { RedlockStoreOptions } from '../../lib/stores/redlock/node/redlock-options.js';
import type { Machine } from './world/machine.js';

/** A defect that is built in on purpose. */
export interface Bug {
  /** In place of the store of memory. */
  readonly memory?: () => MemoryLockStore;
  /** In place of the store at the other end of the network. */
  readonly server?: (store: LockStore) => LockStore;
  /** In place of a script, on Redis. */
  readonly script?: (source: string) => string;
  /** Of the store of Redis. */
  readonly redis?: RedisLockStoreOptions;
  /** Of the store of several nodes. */
  readonly redlock?: RedlockStoreOptions;
  /** In place of one of these nodes. */
  readonly node?: (store: LockStore) => LockStore;
  /** In place of the store that a process uses. */
  readonly store?: (store: LockStore, machine: Machine) => LockStore;
  /** In place of the clock of a service. */
  readonly clock?: (machine: Machine) => Clock;
  readonly service?: (service: LockService) => Pick<LockService, 'withLock' | 'close'>;
  /** Of every call. */
  readonly options?: LockOptions;
}
