import { show } from '../../core/option-values.js';
import { checkDefaults } from '../../core/option-layers.js';
import type { DistributedLockModuleOptions } from './module-options.js';

/** How messages name the module. */
export const MODULE = 'DistributedLockModule';

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
