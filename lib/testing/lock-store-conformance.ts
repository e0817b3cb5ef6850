import { featureChecks } from './conformance/features.js';
import { ownershipChecks } from './conformance/ownership.js';
import { keyChecks } from './conformance/keys.js';
import { contentionChecks } from './conformance/contention.js';
import { passOnChecks } from './conformance/pass-on.js';
import { queueChecks } from './conformance/queue.js';
import { sharingChecks } from './conformance/sharing.js';
import { sharingQueueChecks } from './conformance/sharing-queue.js';
import { Backend } from './conformance/backend.js';
import type { ConformanceOptions } from './conformance/backend.js';

export type { ConformanceOptions } from './conformance/backend.js';

/**
 * The contract of `LockStore` as tests, for any runner: call it where tests are defined.
 *
 * ```ts
 * lockStoreConformance({ test: it, createStore: async () => new MyLockStore(url) });
 * ```
 */
export function lockStoreConformance(options: ConformanceOptions): void {
  const checks = {
    ...featureChecks,
    ...ownershipChecks,
    ...keyChecks,
    ...contentionChecks,
    ...queueChecks,
    ...passOnChecks,
    ...sharingChecks,
    ...sharingQueueChecks,
  };
  for (const [name, check] of Object.entries(checks)) {
    options.test(name, async () => {
      const backend = new Backend(options);
      try {
        await check(backend);
      } finally {
        await backend.close();
      }
    });
  }
}
