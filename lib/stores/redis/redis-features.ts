import { canSubscribe } from '../../redis-client/redis-client.js';
import type { RedisClient } from '../../redis-client/redis-client.js';

/** The features of a `RedisLockStore`, by its client and options. */
export interface RedisFeatures {
  readonly fencing: true;
  readonly ttl: true;
  /** `false` on a Cluster. */
  readonly manyKeys: boolean;
  readonly queuesManyKeys: true;
  /** With `localPassLimit: 0`. Missing on a client that cannot subscribe. */
  readonly queuesAllCallers?: true;
  readonly readLocks: true;
  /** `'polled'` on a client that cannot subscribe. */
  readonly semaphores: true | 'polled';
}

export function featuresOf(client: RedisClient, localPassLimit: number): RedisFeatures {
  const isInLine = canSubscribe(client);
  return {
    fencing: true,
    ttl: true,
    manyKeys: client.isCluster !== true,
    queuesManyKeys: true,
    ...(localPassLimit === 0 && isInLine && { queuesAllCallers: true as const }),
    readLocks: true,
    semaphores: isInLine ? true : 'polled',
  };
}
