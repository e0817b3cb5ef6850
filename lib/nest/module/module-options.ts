import type { ConfigurableModuleAsyncOptions } from '@nestjs/common';
import type { LockServiceOptions } from '../../core/lock.service.js';
import type { LockStore } from '../../core/contract/lock-store.js';
import type { RedisLockStoreOptions } from '../../stores/redis/redis-lock-options.js';
import type { RedlockStoreOptions } from '../../stores/redlock/node/redlock-options.js';
import type { LockLogOptions } from '../../logs/lock-logger.js';
import type { LockErrorOptions } from '../../http/error-options.js';
import type { ModuleMigrationOptions } from './migrate/migrate-options.js';
import type { RedisSource } from './redis/redis-connection.js';

/** Where the locks live, and the defaults of every lock. */
export interface DistributedLockModuleOptions extends LockServiceOptions {
  /**
   * Redis as the store; a list of independent masters makes a Redlock. Exclusive with `store`; where neither is named, locks
   * live in memory and protect one process only. Named without a value (`undefined`, `null`, `''`) it is refused.
   */
  readonly redis?: RedisSource | readonly RedisSource[] | undefined;
  /** Any store. It is closed with the module. */
  readonly store?: LockStore | undefined;
  /**
   * The locks move from one store to another. Exclusive with `redis` and `store`. The application does not start where the phase comes
   * too early; in `to` it waits until `from` has refused the old credential for `largestTtl`.
   */
  readonly migrate?: ModuleMigrationOptions | undefined;
  /** See `RedisLockStoreOptions.keyPrefix`. Only with `redis`. */
  readonly keyPrefix?: RedisLockStoreOptions['keyPrefix'];
  /** See `RedisLockStoreOptions.replicas`. Only with `redis`. */
  readonly replicas?: RedisLockStoreOptions['replicas'];
  /** See `RedisLockStoreOptions.replicaTimeout`. Only with `redis`. */
  readonly replicaTimeout?: RedisLockStoreOptions['replicaTimeout'];
  /** See `RedisLockStoreOptions.localPassLimit`. Only with `redis`. */
  readonly localPassLimit?: RedisLockStoreOptions['localPassLimit'];
  /** See `RedisLockStoreOptions.yieldEvery`. Only with `redis`. */
  readonly yieldEvery?: RedisLockStoreOptions['yieldEvery'];
  /** See `RedisLockStoreOptions.silenceTimeout`. Only with `redis`. */
  readonly silenceTimeout?: RedisLockStoreOptions['silenceTimeout'];
  /** See `RedisLockStoreOptions.serverChecks`. Only with `redis`. */
  readonly serverChecks?: RedisLockStoreOptions['serverChecks'];
  /** See `RedlockStoreOptions.nodeTimeout`. Only with a list. */
  readonly nodeTimeout?: RedlockStoreOptions['nodeTimeout'];
  /** See `RedlockStoreOptions.quarantine`. Only with a list. */
  readonly quarantine?: RedlockStoreOptions['quarantine'];
  /**
   * See `RedlockStoreOptions.largestTtl`. Only with a list.
   * @default the `ttl` of the module
   */
  readonly largestTtl?: RedlockStoreOptions['largestTtl'];
  /**
   * `false`: everything is granted at once, without a store. For tests; a warning of Nest's logger says so elsewhere.
   * @default true
   */
  readonly enabled?: boolean | undefined;
  /**
   * Failures of locks go to Nest's logger: see `logLocks`. `false`: nothing does.
   * @default {}
   */
  readonly logs?: false | LockLogOptions | undefined;
  /**
   * How clients are told of lock errors, over every transport, whether a handler is locked or a service that it calls. `false`: they are not
   * mapped; the exception filters of the application get each `LockError` as it is.
   * @default {}
   */
  readonly http?: false | LockErrorOptions | undefined;
}

/** For `forRootAsync({ useClass })` and `useExisting`. */
export interface DistributedLockOptionsFactory {
  createDistributedLockOptions():
    DistributedLockModuleOptions | Promise<DistributedLockModuleOptions>;
}

/** Options that Nest needs before the others: given beside them, also to `forRootAsync`. */
export interface DistributedLockModuleExtras {
  /**
   * Whether every module sees the locks without importing this one.
   * @default true
   */
  readonly isGlobal?: boolean;
  /** Name of this instance, for `@InjectLocks(name)` and `@DistributedLock(key, { locks: name })`. */
  readonly name?: string;
}

/** Those of `forRootAsync`. */
export type AsyncModuleOptions = DistributedLockModuleExtras &
  ConfigurableModuleAsyncOptions<DistributedLockModuleOptions, 'createDistributedLockOptions'>;
