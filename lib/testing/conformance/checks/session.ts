import assert from 'node:assert/strict';
import { aKey, aRequest } from '../backend.js';
import { until } from '../until.js';
import { needing } from '../check.js';
import type { Check } from '../check.js';

/** For stores whose grants live by a session, which a lease's `lost` reports. */
export const sessionChecks: Record<string, Check> = {
  'gives every lease a signal of its own for the end of the session': needing(
    ['sessions'],
    async (backend) => {
      const store = await backend.store();
      const leases = [await backend.hold(store), await backend.hold(store)];
      const signals = leases.map((lease) => lease.lost);
      for (const signal of signals) assert.equal(signal?.aborted, false);
      assert.notEqual(
        signals[0],
        signals[1],
        'Node warns of more than ten listeners on one signal',
      );
      assert.equal(await leases[0]!.release(), true);
      assert.equal(signals[1]!.aborted, false);
    },
  ),

  'tells the leases of a session, and no others, that it has ended': needing(
    ['sessions', 'endSession'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      const leases = [await backend.hold(a, aRequest({ keys })), await backend.hold(a)];
      const other = await backend.hold(b);
      await backend.endSession(a);
      await until(
        () => leases.every(({ lost }) => lost?.aborted === true),
        '`lost` of every lease of the session to abort',
      );
      assert.equal(other.lost?.aborted, false);
      assert.equal(await other.extend(30_000), true);
      for (const lease of leases) assert.equal(await lease.extend(30_000), false);
      await until(async () => {
        const next = await b.tryAcquire(aRequest({ keys }));
        await next?.release();
        return next !== undefined;
      }, 'the keys of the session to become free');
    },
  ),
};
