/** Everything that works without Nest. A file of its own: an entry loads no other entry. */
export * from './core/index.js';
export * from './leader/index.js';
export * from './ticks/index.js';
export { logLocks } from './logs/log-locks.js';
export type { LockLogger, LockLogOptions } from './logs/lock-logger.js';
export { MemoryLockStore } from './stores/memory/memory-lock.store.js';
export { RedisLockStore } from './stores/redis/redis-lock.store.js';
export type { RedisLockStoreOptions } from './stores/redis/redis-lock-options.js';
export type { RedisClient } from './redis-client/redis-client.js';
export type { NodeRedisClient } from './redis-client/clients/node-redis/node-redis-client.js';
export type { NodeRedisSentinel } from './redis-client/clients/node-redis/sentinel-client.js';
export type { NodeRedisCluster } from './redis-client/clients/node-redis/cluster-client.js';
