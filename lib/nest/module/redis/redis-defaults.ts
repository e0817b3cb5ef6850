import type { ClusterOptions, RedisOptions } from 'ioredis';
import type { RedisLockStoreOptions } from '../../../stores/redis/redis-lock-options.js';

/** How long a server may be silent. */
export type SilenceLimits = Pick<RedisLockStoreOptions, 'silenceTimeout' | 'replicaTimeout'>;

/**
 * The defaults of a client's options: a server that hangs closes no connection. The store gives one
 * up after `silenceTimeout`; this is for what others send on it.
 */
export function clientOptions(source: RedisOptions, limits: SilenceLimits): RedisOptions {
  const isSentinel = Boolean(source.sentinels);
  return {
    ...socketLimit(limits),
    ...(isSentinel && { failoverDetector: true }),
    ...source,
  };
}

/** As `clientOptions`, for a Cluster. */
export function clusterOptions(source: ClusterOptions, limits: SilenceLimits): ClusterOptions {
  return { ...source, redisOptions: { ...socketLimit(limits), ...source.redisOptions } };
}

function socketLimit({ silenceTimeout = 3_000, replicaTimeout = 1_000 }: SilenceLimits) {
  if (silenceTimeout === Infinity) return {};
  return { socketTimeout: 2 * (silenceTimeout + replicaTimeout) };
}
