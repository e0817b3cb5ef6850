import type { DiscoveryService } from '@nestjs/core';
import { show } from '../../core/option-values.js';
import { checkDefaults } from '../../core/option-layers.js';
import { DEFAULT_LOCKS } from './lock-tokens.js';
import type { DistributedLockModuleOptions } from './module-options.js';

/** How messages name the module. */
export const MODULE = 'DistributedLockModule';

/** Under it, each module provides the name of its instance. */
export const MODULE_NAME = Symbol.for('nest-holdfast:module-name');

/** Known before the options are, so a factory of options cannot give them. */
const BESIDE_A_FACTORY = ['name', 'isGlobal'];
const OF_THE_MODULE = [
  'redis',
  'store',
  ...BESIDE_A_FACTORY,
  'http',
  'enabled',
  'clock',
  'keyPrefix',
  'replicas',
  'replicaTimeout',
  'localPassLimit',
  'nodeTimeout',
  'quarantine',
  'largestTtl',
];

/** Throws `TypeError` for what are no options at all. */
export function checkIsModuleOptions(options: unknown): void {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return;
  const got = typeof options === 'string' ? 'a string' : show(options); // a URL may have a password
  throw new TypeError(
    `${MODULE}: the options must be an object, such as { redis: 'redis://localhost:6379' }, got ${got}`,
  );
}

/** Throws `TypeError` naming the option. */
export function checkModuleOptions(options: DistributedLockModuleOptions): void {
  checkIsModuleOptions(options);
  const beside = BESIDE_A_FACTORY.find((name) => name in options);
  if (beside)
    throw new TypeError(`${MODULE}: ${beside} belongs beside useFactory, not in its result`);
  checkDefaults(MODULE, options, OF_THE_MODULE);
  if (options.redis !== undefined && options.store !== undefined) {
    throw new TypeError(`${MODULE}: give either redis or store, not both`);
  }
}

/** Who names Redis and has no value for it does not mean locks that protect one process only. */
export function checkRedisIsSet(options: DistributedLockModuleOptions): void {
  const { redis, store } = options;
  if (!('redis' in options) || store !== undefined) return;
  if (redis !== undefined && redis !== null && redis !== '') return;
  throw new TypeError(
    `${MODULE}: redis is ${redis === '' ? 'empty' : String(redis)} (is an environment variable missing?). ` +
      'Leave it out, or give store: new MemoryLockStore(), for locks in memory',
  );
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
