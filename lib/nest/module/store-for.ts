import { Logger } from '@nestjs/common';
import type { LockStore } from '../../core/contract/lock-store.js';
import { MemoryLockStore } from '../../stores/memory/memory-lock.store.js';
import type { GivenClient } from '../../redis-client/clients/client-of.js';
import { RedisLockStore } from '../../stores/redis/redis-lock.store.js';
import { DisabledLockStore } from './disabled-lock.store.js';
import type { DistributedLockModuleOptions } from './module-options.js';
import { migratingStore } from './migrate/migrating-store.js';
import type { MigrationConnections } from './migrate/migrating-store.js';
import { isList } from './redis/redis-nodes.js';
import type { RedisConnections } from './redis/redis-nodes.js';

const logger = new Logger('DistributedLockModule');

/** The store that the options of a module ask for, once locks can be taken in it. */
export function storeOf(
  options: DistributedLockModuleOptions,
  connections: RedisConnections | undefined,
): Promise<LockStore> {
  const { migrate, enabled, clock } = options;
  if (!migrate || enabled === false) return storeFor(options, connections?.client);
  const make: Parameters<typeof migratingStore>[2] = ({ store, keyPrefix }, client) =>
    storeFor({ ...options, store, keyPrefix: keyPrefix ?? options.keyPrefix }, client);
  return migratingStore(migrate, connections as MigrationConnections | undefined, make, clock);
}

/** `client` is what `redis` led to. */
async function storeFor(
  options: DistributedLockModuleOptions,
  client: GivenClient | readonly GivenClient[] | undefined,
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
    logger.warn('enabled is false: nothing is locked, and every call goes on at once');
  }
  return new DisabledLockStore();
}

/** Loaded where it is used: most applications have one Redis. */
async function redlockOver(
  clients: readonly GivenClient[],
  options: DistributedLockModuleOptions,
): Promise<LockStore> {
  const { RedlockStore } = await import('../../stores/redlock/redlock.store.js');
  const { nodeTimeout, quarantine, largestTtl = options.ttl } = options;
  const nodes = clients.map((client) => redisOn(client, options));
  return new RedlockStore(nodes, { nodeTimeout, quarantine, largestTtl });
}

function redisOn(client: GivenClient, options: DistributedLockModuleOptions): RedisLockStore {
  const { keyPrefix, replicas, replicaTimeout, localPassLimit, yieldEvery } = options;
  const { silenceTimeout, serverChecks } = options;
  const limits = { localPassLimit, yieldEvery, silenceTimeout, serverChecks };
  return new RedisLockStore(client, { keyPrefix, replicas, replicaTimeout, ...limits });
}
