import { aFunction, checkOptions, needed } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';
import { featureChecks } from './conformance/features.js';
import { ownershipChecks } from './conformance/ownership.js';
import { keyChecks } from './conformance/keys.js';
import { contentionChecks } from './conformance/contention.js';
import { extendManyChecks } from './conformance/extend-many.js';
import { passOnChecks } from './conformance/pass-on.js';
import { queueChecks } from './conformance/queue.js';
import { sharingChecks } from './conformance/sharing.js';
import { sharingQueueChecks } from './conformance/sharing-queue.js';
import { Backend } from './conformance/backend.js';
import type { Check, ConformanceOptions } from './conformance/backend.js';

export type { ConformanceOptions } from './conformance/backend.js';

/** How often a check is made that fails on a machine that is too slow for its ttls. */
const ATTEMPTS = 10;

const RULES: OptionRules<ConformanceOptions> = {
  test: needed(aFunction),
  createStore: needed(aFunction),
  expire: aFunction,
};

/**
 * The contract of `LockStore` as tests, for any runner: call it where tests are defined.
 *
 * ```ts
 * lockStoreConformance({ test: it, createStore: async () => new MyLockStore(url) });
 * ```
 *
 * Some checks let ttls of 50 ms pass. One that fails because the machine was too slow for that is made again.
 */
export function lockStoreConformance(options: ConformanceOptions): void {
  checkOptions('lockStoreConformance', options, RULES, '{ test: it, createStore }');
  const checks = {
    ...featureChecks,
    ...ownershipChecks,
    ...keyChecks,
    ...contentionChecks,
    ...queueChecks,
    ...extendManyChecks,
    ...passOnChecks,
    ...sharingChecks,
    ...sharingQueueChecks,
  };
  for (const [name, check] of Object.entries(checks))
    options.test(name, () => make(check, options));
}

async function make(check: Check, options: ConformanceOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const backend = new Backend(options);
    try {
      return await check(backend);
    } catch (error) {
      if (!backend.wasTooSlow || attempt === ATTEMPTS) throw error;
    } finally {
      await backend.close();
    }
  }
}
