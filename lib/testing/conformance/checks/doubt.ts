import assert from 'node:assert/strict';
import type { StoreDoubt } from '../../../core/contract/lock-store.js';
import { aKey, aRequest } from '../backend.js';
import { until } from '../until.js';
import { needing } from '../check.js';
import type { Check } from '../check.js';

/** For stores that notice when grants may have been lost. */
export const doubtChecks: Record<string, Check> = {
  'tells of a doubt that concerns the keys, and then knows whether they are ours': needing(
    ['observe', 'disconnect'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const doubts: StoreDoubt[] = [];
      a.observe!((notice) => {
        if (notice.type === 'doubt') doubts.push(notice);
      });
      const keys = [aKey()];
      const lease = await backend.hold(a, aRequest({ keys, ttl: 60_000 }));
      assert.equal(doubts.length, 0);
      await backend.disconnect(a);
      await until(() => doubts.some((doubt) => doubt.concerns?.(keys) ?? true), 'a doubt');
      for (const { reason } of doubts) assert.ok(typeof reason === 'string' && reason !== '');
      let isOurs: boolean | undefined;
      await until(async () => {
        isOurs = await lease.extend(60_000);
        return true;
      }, 'an answer to `extend`');
      assert.equal(typeof isOurs, 'boolean');
      const next = await b.tryAcquire(aRequest({ keys }));
      assert.equal(next === undefined, isOurs, '`extend` and the next caller must agree');
      assert.equal(await (next ?? lease).release(), true);
    },
  ),
};
