import { Logger } from '@nestjs/common';
import type { InjectionToken, Provider } from '@nestjs/common';
import { LockService } from '../core/lock.service.js';
import type { LockStore } from '../core/lock-store.js';
import { MemoryLockStore } from '../stores/memory/memory-lock.store.js';
import { RedisLockStore } from '../stores/redis/redis-lock.store.js';
import { DisabledLockStore } from './disabled-lock.store.js';
import { DistributedLockInterceptor } from './distributed-lock.interceptor.js';
import type { DistributedLockModuleOptions } from './module-options.js';
import { getLockClientToken, getLockHttpToken, getLocksToken } from './lock-tokens.js';
import { connectRedis } from './redis-connection.js';
import type { RedisConnection } from './redis-connection.js';

/** Inside one module: what its lifecycle hooks need, under the same tokens whatever the instance is called. */
export const MODULE_LOCKS = Symbol.for('nest-holdfast:module-locks');
export const MODULE_CONNECTION = Symbol.for('nest-holdfast:module-connection');
export const MODULE_NAME = Symbol.for('nest-holdfast:module-name');

interface LockProviders {
  readonly providers: Provider[];
  readonly exported: InjectionToken[];
}

/** Everything that one instance registers. */
export function lockProviders(
  optionsToken: InjectionToken,
  name: string | undefined,
): LockProviders {
  const locks = getLocksToken(name);
  const client = getLockClientToken(name);
  const http = getLockHttpToken(name);
  return {
    providers: [
      { provide: MODULE_NAME, useValue: name },
      { provide: MODULE_CONNECTION, inject: [optionsToken], useFactory: connectionFor },
      { provide: locks, inject: [optionsToken, MODULE_CONNECTION], useFactory: serviceFor },
      { provide: MODULE_LOCKS, useExisting: locks },
      {
        provide: client,
        inject: [MODULE_CONNECTION],
        useFactory: (connection?: RedisConnection) => connection?.client,
      },
      {
        provide: http,
        inject: [optionsToken],
        useFactory: (options: DistributedLockModuleOptions) => options.http ?? {},
      },
      DistributedLockInterceptor,
    ],
    exported: [locks, client, http, DistributedLockInterceptor],
  };
}

async function connectionFor(
  options: DistributedLockModuleOptions,
): Promise<RedisConnection | undefined> {
  if (options.redis !== undefined && options.store !== undefined) {
    throw new TypeError('DistributedLockModule: give either redis or store, not both');
  }
  if (options.redis === undefined || options.enabled === false) return undefined;
  return connectRedis(options.redis);
}

async function serviceFor(
  options: DistributedLockModuleOptions,
  connection: RedisConnection | undefined,
): Promise<LockService> {
  const { redis, store, keyPrefix, replicas, replicaTimeout, localPassLimit, ...rest } = options;
  const { enabled, http, ...defaults } = rest;
  try {
    return new LockService(storeFor(options, connection), defaults);
  } catch (error) {
    await connection?.close(); // an application that does not start runs no shutdown hooks
    throw error;
  }
}

function storeFor(
  options: DistributedLockModuleOptions,
  connection: RedisConnection | undefined,
): LockStore {
  if (options.enabled === false) return new DisabledLockStore();
  if (connection) {
    const { keyPrefix, replicas, replicaTimeout, localPassLimit } = options;
    const storeOptions = { keyPrefix, replicas, replicaTimeout, localPassLimit };
    return new RedisLockStore(connection.client, storeOptions);
  }
  if (options.store) return options.store;
  new Logger('DistributedLockModule').warn(
    'Neither redis nor store is set: locks live in memory and protect this one process only',
  );
  return new MemoryLockStore(options.clock);
}
