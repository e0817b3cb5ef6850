import type { InjectionToken, Provider } from '@nestjs/common';
import { LockService } from '../core/lock.service.js';
import { DistributedLockInterceptor } from './distributed-lock.interceptor.js';
import type { DistributedLockModuleOptions } from './module-options.js';
import { getLockClientToken, getLockHttpToken, getLocksToken } from './lock-tokens.js';
import { connectAll } from './redis-nodes.js';
import type { RedisConnections } from './redis-nodes.js';
import { storeFor } from './store-for.js';

/** Inside one module: what its lifecycle hooks need, under the same tokens whatever the instance is called. */
export const MODULE_LOCKS = Symbol.for('nest-holdfast:module-locks');
export const MODULE_CONNECTIONS = Symbol.for('nest-holdfast:module-connections');
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
      { provide: MODULE_CONNECTIONS, inject: [optionsToken], useFactory: connectionsFor },
      { provide: locks, inject: [optionsToken, MODULE_CONNECTIONS], useFactory: serviceFor },
      { provide: MODULE_LOCKS, useExisting: locks },
      {
        provide: client,
        inject: [MODULE_CONNECTIONS],
        useFactory: (connections?: RedisConnections) => connections?.client,
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

async function connectionsFor(
  options: DistributedLockModuleOptions,
): Promise<RedisConnections | undefined> {
  if (options.redis !== undefined && options.store !== undefined) {
    throw new TypeError('DistributedLockModule: give either redis or store, not both');
  }
  if (options.redis === undefined || options.enabled === false) return undefined;
  return connectAll(options.redis);
}

async function serviceFor(
  options: DistributedLockModuleOptions,
  connections: RedisConnections | undefined,
): Promise<LockService> {
  const { redis, store, keyPrefix, replicas, replicaTimeout, localPassLimit, ...others } = options;
  const { nodeTimeout, quarantine, largestTtl, enabled, http, ...defaults } = others;
  try {
    return new LockService(await storeFor(options, connections?.client), defaults);
  } catch (error) {
    await connections?.close(); // an application that does not start runs no shutdown hooks
    throw error;
  }
}
