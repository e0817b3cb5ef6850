import { checkOptions } from '../core/options/option-rules.js';
import { Backend } from './conformance/backend.js';
import { contentionChecks } from './conformance/checks/contention.js';
import { doubtChecks } from './conformance/checks/doubt.js';
import { evictChecks } from './conformance/checks/operate/evict.js';
import { extendManyChecks } from './conformance/checks/extend-many.js';
import { featureChecks } from './conformance/checks/features.js';
import { fencingChecks } from './conformance/checks/fencing.js';
import { inspectionChecks } from './conformance/checks/operate/inspection.js';
import { keyChecks } from './conformance/checks/keys.js';
import { listChecks } from './conformance/checks/operate/list.js';
import { ownershipChecks } from './conformance/checks/ownership.js';
import { handOffChecks } from './conformance/checks/hand-off.js';
import { queueChecks } from './conformance/checks/queue.js';
import { sessionChecks } from './conformance/checks/session.js';
import { downgradeChecks } from './conformance/checks/sharing/downgrade.js';
import { sharingQueueChecks } from './conformance/checks/sharing/queue.js';
import { sharingChecks } from './conformance/checks/sharing/sharing.js';
import { sharingTtlChecks } from './conformance/checks/sharing/ttl.js';
import { CONFORMANCE_RULES } from './conformance/conformance-options.js';
import type { ConformanceOptions } from './conformance/conformance-options.js';
import type { Check } from './conformance/check.js';
import { registerSkipped, skipRunning } from './conformance/runner.js';
import { lackingCheck, Skips } from './conformance/skips.js';

export type { ConformanceOptions } from './conformance/conformance-options.js';
export type { ConformanceFeature } from './conformance/needs.js';

/** How often a check is made that fails on a machine that is too slow for its ttls. */
const ATTEMPTS = 5;

const CHECKS: Readonly<Record<string, Check>> = {
  ...featureChecks,
  ...ownershipChecks,
  ...keyChecks,
  ...contentionChecks,
  ...fencingChecks,
  ...queueChecks,
  ...inspectionChecks,
  ...listChecks,
  ...evictChecks,
  ...extendManyChecks,
  ...handOffChecks,
  ...sharingTtlChecks,
  ...sharingChecks,
  ...sharingQueueChecks,
  ...downgradeChecks,
  ...sessionChecks,
  ...doubtChecks,
};

/**
 * The contract of `LockStore` as tests, for any runner: call it where tests are defined.
 *
 * ```ts
 * lockStoreConformance({ test: it, createStore: async () => new MyLockStore(url) });
 * ```
 *
 * A check of what the store does not have is skipped, with the reason. Some checks let ttls of 50 ms pass; one that fails
 * because the machine was too slow for that is made again, with ttls of twice the time. Throws `TypeError` for a wrong option.
 */
export function lockStoreConformance(options: ConformanceOptions): void {
  checkOptions('lockStoreConformance', options, CONFORMANCE_RULES, '{ test: it, createStore }');
  const { lacks = [] } = options;
  const own = lacks.length > 0 ? { 'lacks what it is said to lack': lackingCheck(options) } : {};
  const skips = new Skips(options, CHECKS);
  for (const [name, check] of Object.entries({ ...CHECKS, ...own })) {
    const reason = skips.known(check);
    if (reason !== undefined && registerSkipped(options.test, `${name} (${reason})`)) continue;
    // Without parameters: Jest and Mocha would wait for a callback.
    options.test(name, function (this: unknown, ...given: unknown[]): Promise<void> {
      return make(check, options, skips, [...given, this]);
    });
  }
}

async function make(
  check: Check,
  options: ConformanceOptions,
  skips: Skips,
  given: readonly unknown[],
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const backend = new Backend(options, 2 ** (attempt - 1));
    try {
      const reason = await skips.found(check);
      if (reason === undefined) return await check(backend);
      if (!skipRunning(given, reason)) skips.tell(reason);
      return;
    } catch (error) {
      if (!backend.wasTooSlow || attempt === ATTEMPTS) throw error;
    } finally {
      await backend.close();
    }
  }
}
