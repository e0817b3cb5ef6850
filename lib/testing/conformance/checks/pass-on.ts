import assert from 'node:assert/strict';
import { aKey, aRequest } from '../backend.js';
import { needing } from '../check.js';
import type { Check } from '../check.js';

/** For stores whose leases are passed on inside a process. */
export const passOnChecks: Record<string, Check> = {
  'passes a lease on with a larger fencing token, asked or not': needing(
    ['passOn'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      let { lease, next } = (await backend.passOn(a, aRequest({ keys }), false))!;
      for (const renew of [true, false, false]) {
        if (a.supports.fencing) assert.ok(next.fencingToken! > lease.fencingToken!);
        assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
        const passed = await next.passOn!(30_000, renew);
        assert.ok(passed, 'nobody else waits, so the next holder is one of this process');
        [lease, next] = [next, passed];
      }
      assert.equal(await next.extend(30_000), true);
      const last = next.fencingToken;
      assert.equal(await next.release(), true);
      const after = await backend.hold(b, aRequest({ keys }));
      if (b.supports.fencing) assert.ok(after.fencingToken! > last!);
    },
  ),

  'gives a renewed lease the ttl that was asked for': needing(['passOn'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const { next } = (await backend.passOn(a, aRequest({ keys, ttl: 100 }), true))!;
    await backend.expire(150);
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
    assert.equal(await next.release(), true);
  }),

  'passes nothing on that it has lost': needing(['passOn', 'ttl'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys, ttl: 50 }));
    await backend.expire(100);
    const other = await backend.hold(b, aRequest({ keys }));
    assert.equal(await lease.passOn!(30_000, true), undefined);
    assert.equal(await other.extend(30_000), true);
  }),
};
