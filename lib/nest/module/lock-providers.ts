import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { InjectionToken, Provider } from '@nestjs/common';
import { APP_INTERCEPTOR, ApplicationConfig, DiscoveryService, ModuleRef } from '@nestjs/core';
import { inRootContext } from '../../core/async/root-context.js';
import { withLabel } from '../../core/text/with-label.js';
import { logLocks } from '../../logs/log-locks.js';
import { LockService } from '../../core/lock.service.js';
import { DistributedLockInterceptor } from '../calls/distributed-lock.interceptor.js';
import { markFailures } from '../errors/lock-origin.js';
import { LockErrorsInterceptor } from '../errors/lock-errors.interceptor.js';
import { getLeadersToken, LeaderService } from './leader.service.js';
import {
  checkIsOnly,
  checkModuleOptions,
  checkStoreIsSet,
  MODULE,
  MODULE_NAME,
} from './module-checks.js';
import type { DistributedLockModuleOptions } from './module-options.js';
import { getLockClientToken, getLockErrorsToken, getLocksToken } from '../plan/lock-tokens.js';
import { connectSides } from './migrate/migrating-store.js';
import { connectAll } from './redis/redis-nodes.js';
import type { RedisConnections } from './redis/redis-nodes.js';
import { STAND_INS } from './stand-ins.js';
import type { StandIns } from './stand-ins.js';
import { storeOf } from './store-for.js';

/** The providers of a module's lifecycle hooks. Their tokens do not depend on the name of the instance. */
export const MODULE_LOCKS = Symbol.for('nest-holdfast:module-locks');
export const MODULE_CONNECTIONS = Symbol.for('nest-holdfast:module-connections');
const MODULE_ID = Symbol.for('nest-holdfast:module-id');

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
  const http = getLockErrorsToken(name);
  const leaders = getLeadersToken(name);
  const standIns = { token: STAND_INS, optional: true };
  return {
    providers: [
      // Nest 10 drops the second one of two modules that look alike, and two stores look alike.
      { provide: MODULE_ID, useValue: randomUUID() },
      { provide: MODULE_NAME, useValue: name },
      {
        provide: MODULE_CONNECTIONS,
        inject: [optionsToken, MODULE_NAME, DiscoveryService, standIns],
        useFactory: connectionsFor,
      },
      {
        provide: locks,
        inject: [optionsToken, MODULE_CONNECTIONS, MODULE_NAME, standIns],
        useFactory: serviceFor,
      },
      { provide: MODULE_LOCKS, useExisting: locks },
      {
        provide: client,
        inject: [MODULE_CONNECTIONS],
        useFactory: (connections?: RedisConnections) => connections?.client,
      },
      {
        provide: http,
        inject: [optionsToken],
        useFactory: (options?: DistributedLockModuleOptions) => options?.http ?? {},
      },
      {
        provide: leaders,
        inject: [MODULE_LOCKS, DiscoveryService],
        useFactory: (service: LockService, discovery: DiscoveryService) =>
          new LeaderService(service, discovery, name),
      },
      DistributedLockInterceptor,
      {
        provide: APP_INTERCEPTOR,
        inject: [ModuleRef, ApplicationConfig, MODULE_NAME],
        useFactory: (modules: ModuleRef, config: ApplicationConfig, own?: string) =>
          new LockErrorsInterceptor(modules, config, own),
      },
    ],
    exported: [locks, client, http, leaders, DistributedLockInterceptor],
  };
}

async function connectionsFor(
  options: DistributedLockModuleOptions,
  name: string | undefined,
  discovery: DiscoveryService,
  standIns?: StandIns,
): Promise<RedisConnections | undefined> {
  checkIsOnly(name, discovery);
  checkModuleOptions(options);
  if (options.enabled === false || standIns) return undefined;
  checkStoreIsSet(options);
  const { redis, migrate } = options;
  if (migrate) return inRootContext(() => connectSides(migrate, options));
  return redis === undefined ? undefined : inRootContext(() => connectAll(redis, options));
}

async function serviceFor(
  options: DistributedLockModuleOptions,
  connections: RedisConnections | undefined,
  name?: string,
  standIns?: StandIns,
): Promise<LockService> {
  const {
    redis,
    store,
    migrate,
    keyPrefix,
    replicas,
    replicaTimeout,
    localPassLimit,
    yieldEvery,
    silenceTimeout,
    serverChecks,
    ...others
  } = options;
  const { nodeTimeout, quarantine, largestTtl, enabled, http, logs, ...defaults } = others;
  if (standIns) {
    const clock = standIns.clock ?? defaults.clock;
    return markFailures(new LockService(standIns.store(name, clock), { ...defaults, clock }), name);
  }
  try {
    const made = await storeOf(options, connections);
    const service = withLabel(MODULE, () => new LockService(made, defaults));
    if (logs !== false) logLocks(service, new Logger(nameOfLogs(name)), logs);
    return markFailures(service, name);
  } catch (error) {
    await connections?.close(); // an application that does not start runs no shutdown hooks
    throw error;
  }
}

function nameOfLogs(name: string | undefined): string {
  return name === undefined ? 'Locks' : `Locks:${name}`;
}
