/** Everything that works without Nest: `nest-holdfast/core`. */
export * from './core/index.js';
export * from './leader/index.js';
export * from './ticks/index.js';
export { logLocks } from './logs/log-locks.js';
export type { LockLogger, LockLogOptions } from './logs/lock-logger.js';
export { MemoryLockStore } from './stores/memory/memory-lock.store.js';
export { RedisLockStore } from './stores/redis/redis-lock.store.js';
export type { RedisLockStoreOptions } from './stores/redis/redis-lock-options.js';
export type { RedisClient } from './redis-client/redis-client.js';
