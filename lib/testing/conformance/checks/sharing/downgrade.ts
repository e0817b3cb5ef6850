import assert from 'node:assert/strict';
import { aKey, aRequest } from '../../backend.js';
import { needing } from '../../check.js';
import type { Check } from '../../check.js';
import { IN_QUEUE } from './queue.js';

/** For stores that make a reader of a writer. */
export const downgradeChecks: Record<string, Check> = {
  'makes a reader of a writer, and lets readers in': needing(['downgrade'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys }));
    assert.equal(await lease.downgrade!(), true);
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
    const reader = await backend.hold(b, aRequest({ keys, permits: Infinity }));
    assert.equal(await lease.extend(30_000), true);
    assert.equal(lease.fencingToken, undefined);
    assert.equal(await lease.release(), true);
    assert.equal(await a.tryAcquire(aRequest({ keys })), undefined);
    assert.equal(await reader.release(), true);
    const next = await backend.hold(a, aRequest({ keys }));
    assert.equal(await next.release(), true);
    assert.equal(await next.downgrade!(), false);
    await backend.hold(b, aRequest({ keys }));
  }),

  'makes a reader of a writer once, however often it is asked': needing(
    ['downgrade'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      const lease = await backend.hold(a, aRequest({ keys }));
      assert.equal(await lease.downgrade!(), true);
      const reader = await backend.hold(b, aRequest({ keys, permits: Infinity }));
      assert.equal(await lease.downgrade!(), true);
      assert.equal((await b.inspect?.(keys[0]!))?.holders?.length ?? 2, 2);
      assert.equal(await reader.release(), true);
      assert.equal(await lease.release(), true);
      assert.equal(await lease.downgrade!(), false);
      await backend.hold(b, aRequest({ keys }));
    },
  ),

  'lets readers in who wait first in line when a writer becomes a reader': needing(
    ['downgrade', 'queue'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      const lease = await backend.hold(a, aRequest({ keys }));
      const reading = backend.wait(b, aRequest({ keys, permits: Infinity }));
      await backend.expire(IN_QUEUE);
      assert.equal(await lease.downgrade!(), true);
      const reader = await reading;
      assert.equal(await reader.release(), true);
      assert.equal(await lease.release(), true);
    },
  ),
};
