import { Logger } from '@nestjs/common';
import type { LockStore } from '../../core/contract/lock-store.js';
import { MemoryLockStore } from '../../stores/memory/memory-lock.store.js';
import type { RedisClient } from '../../redis-client/redis-client.js';
import { RedisLockStore } from '../../stores/redis/redis-lock.store.js';
import { DisabledLockStore } from './disabled-lock.store.js';
import type { DistributedLockModuleOptions } from './module-options.js';
import { isList } from './redis/redis-nodes.js';

const logger = new Logger('DistributedLockModule');

/** The store that the options of a module ask for. `client` is what `options.redis` led to. */
export async function storeFor(
  options: DistributedLockModuleOptions,
  client: RedisClient | readonly RedisClient[] | undefined,
): Promise<LockStore> {
  if (options.enabled === false) return disabled();
  if (client) return isList(client) ? redlockOver(client, options) : redisOn(client, options);
  if (options.store) return options.store;
  logger.warn(
    'Neither redis nor store is set: locks live in memory and protect this one process only',
  );
  return new MemoryLockStore(options.clock);
}

/** A test runner sets NODE_ENV; any other application that locks nothing is warned. */
function disabled(): LockStore {
  if (process.env['NODE_ENV'] !== 'test') {
    logger.warn('enabled is false: nothing is locked, and everybody is let in at once');
  }
  return new DisabledLockStore();
}

/** Loaded where it is used: most applications have one Redis. */
async function redlockOver(
  clients: readonly RedisClient[],
  options: DistributedLockModuleOptions,
): Promise<LockStore> {
  const { RedlockStore } = await import('../../stores/redlock/redlock.store.js');
  const { nodeTimeout, quarantine, largestTtl = options.ttl } = options;
  const nodes = clients.map((client) => redisOn(client, options));
  return new RedlockStore(nodes, { nodeTimeout, quarantine, largestTtl });
}

function redisOn(client: RedisClient, options: DistributedLockModuleOptions): RedisLockStore {
  const { keyPrefix, replicas, replicaTimeout, localPassLimit, yieldEvery } = options;
  const { silenceTimeout, serverChecks } = options;
  const limits = { localPassLimit, yieldEvery, silenceTimeout, serverChecks };
  return new RedisLockStore(client, { keyPrefix, replicas, replicaTimeout, ...limits });
}
