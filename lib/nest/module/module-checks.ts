import { isList } from '../../core/contract/fields.js';
import type { DiscoveryService } from '@nestjs/core';
import { checkDefaults } from '../../core/options/option-layers.js';
import { show } from '../../core/options/option-values.js';
import { optionError } from '../../core/options/option-error.js';
import {
  a,
  aBoolean,
  aFunction,
  aName,
  anything,
  checkNoneIsInherited,
  checkOptions,
} from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { SERVICE_RULES } from '../../core/options/service-options.js';
import { checkStore } from '../../core/store/store-checks.js';
import { falseOrLogOptions } from '../../logs/lock-logger.js';
import { falseOrErrorOptions } from '../../http/error-options.js';
import { isGivenClient } from '../../redis-client/clients/client-of.js';
import { REDIS_RULES } from '../../stores/redis/redis-lock-options.js';
import { REDLOCK_RULES } from '../../stores/redlock/node/redlock-options.js';
import { DEFAULT_LOCKS } from '../plan/lock-tokens.js';
import { aMigration, checkOneSource } from './migrate/migrate-options.js';
import type {
  AsyncModuleOptions,
  DistributedLockModuleExtras,
  DistributedLockModuleOptions,
} from './module-options.js';

/** How messages name the module. */
export const MODULE = 'DistributedLockModule';

/** Under it, each module provides the name of its instance. */
export const MODULE_NAME = Symbol.for('nest-holdfast:module-name');

/** Known before the options are, so a factory of options cannot give them. */
const EXTRA_RULES: OptionRules<DistributedLockModuleExtras> = { name: aName, isGlobal: aBoolean };
const { keyPrefix, replicas, replicaTimeout, localPassLimit, yieldEvery } = REDIS_RULES;
const { silenceTimeout, serverChecks } = REDIS_RULES;
const { nodeTimeout, quarantine, largestTtl } = REDLOCK_RULES;

const RULES: OptionRules<DistributedLockModuleOptions & DistributedLockModuleExtras> = {
  redis: anything, // checked where it is connected to
  store: aStore,
  migrate: aMigration,
  ...EXTRA_RULES,
  http: falseOrErrorOptions,
  logs: falseOrLogOptions,
  enabled: aBoolean,
  ...SERVICE_RULES,
  keyPrefix,
  replicas,
  replicaTimeout,
  localPassLimit,
  yieldEvery,
  silenceTimeout,
  serverChecks,
  nodeTimeout,
  quarantine,
  largestTtl,
};

/** Throws `TypeError` for what is no store, and names the one to write around a client of Redis. */
function aStore(name: string, value: unknown): void {
  if (isGivenClient(value)) {
    throw optionError(
      `${name} must be a LockStore, got a client of Redis: write new RedisLockStore(client), or redis: client`,
    );
  }
  checkStore(value, `${name} must be a LockStore`);
}

const aList = a('a list', Array.isArray);
const ASYNC_RULES: OptionRules<AsyncModuleOptions> = {
  ...EXTRA_RULES,
  imports: aList,
  inject: aList,
  useFactory: aFunction,
  useClass: aFunction,
  useExisting: anything, // any token
  provideInjectionTokensFrom: aList,
};

/** Throws `TypeError` for what are no options at all. */
export function checkIsModuleOptions(options: unknown): void {
  if (typeof options === 'object' && options !== null && isList(options) === false)
    return checkNoneIsInherited(`${MODULE}: `, options, RULES);
  const got = typeof options === 'string' ? 'a string' : show(options); // a URL may have a password
  throw optionError(
    `${MODULE}: the options must be an object, such as { redis: 'redis://localhost:6379' }, got ${got}`,
  );
}

/** Throws `TypeError` naming the option. */
export function checkExtras(extras: DistributedLockModuleExtras): void {
  checkOptions(MODULE, extras, EXTRA_RULES, "{ name: 'reports' }");
}

/** For `forRootAsync`. Throws `TypeError` naming the option. */
export function checkAsyncOptions(options: AsyncModuleOptions): void {
  checkOptions(
    `${MODULE}.forRootAsync`,
    options,
    ASYNC_RULES,
    '{ useFactory: () => ({ ttl: 10_000 }) }',
  );
  if (options.useFactory ?? options.useClass ?? options.useExisting) return;
  throw optionError(
    `${MODULE}.forRootAsync: one of useFactory, useClass and useExisting has to make the options`,
  );
}

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkModuleOptions(options: DistributedLockModuleOptions): void {
  checkIsModuleOptions(options);
  const beside = Object.keys(EXTRA_RULES).find((name) => name in options);
  if (beside)
    throw optionError(`${MODULE}: ${beside} belongs beside useFactory, not in its result`);
  checkDefaults<DistributedLockModuleOptions & DistributedLockModuleExtras>(MODULE, options, RULES);
  checkOneSource(MODULE, options);
}

/** An option that is named without a value is a mistake: locks in memory would protect one process only. */
export function checkStoreIsSet(options: DistributedLockModuleOptions): void {
  for (const [name, other] of [
    ['redis', 'store'],
    ['store', 'redis'],
  ] as const) {
    const value: unknown = options[name];
    if (!(name in options) || options[other] !== undefined) continue;
    if (value !== undefined && value !== null && value !== '') continue;
    throw optionError(
      `${MODULE}: ${name} is ${value === '' ? 'empty' : String(value)} (is an environment variable missing?). ` +
        'Leave it out, or give store: new MemoryLockStore(), for locks in memory',
    );
  }
}

/** Throws `TypeError` where two modules have one name: each provider would lock in the store of either, by the order of imports. */
export function checkIsOnly(name: string = DEFAULT_LOCKS, discovery: DiscoveryService): void {
  const names = discovery.getProviders().filter(({ token }) => token === MODULE_NAME);
  const same = names.filter(({ instance = DEFAULT_LOCKS }) => instance === name);
  if (same.length < 2) return;
  const which = name === DEFAULT_LOCKS ? 'without a name' : `with the name "${name}"`;
  throw new TypeError(
    `${MODULE}: this application has ${same.length} of them ${which}, and the order of imports would decide which of them locks. ` +
      "Call forRoot or forRootAsync once, in the root module; a module that needs a store of its own gives a name: forRoot({ name: 'reports' })",
  );
}
