import assert from 'node:assert/strict';
import { aKey, aRequest } from '../backend.js';
import { needing } from '../check.js';
import type { Check } from '../check.js';

/** For stores whose leases are handed off inside a process. */
export const handOffChecks: Record<string, Check> = {
  'hands a lease off with a larger fencing token, asked or not': needing(
    ['handOff'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      let { lease, next } = (await backend.handOff(a, aRequest({ keys }), false))!;
      for (const renew of [true, false, false]) {
        if (a.supports.fencing) assert.ok(next.fencingToken! > lease.fencingToken!);
        assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
        const passed = await next.handOff!(30_000, renew);
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

  'gives a renewed lease the ttl that was asked for': needing(['handOff'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const { next } = (await backend.handOff(a, aRequest({ keys, ttl: 100 }), true))!;
    await backend.expire(150);
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
    assert.equal(await next.release(), true);
  }),

  'hands nothing off that it has lost': needing(['handOff', 'ttl'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys, ttl: 50 }));
    await backend.expire(100);
    const other = await backend.hold(b, aRequest({ keys }));
    assert.equal(await lease.handOff!(30_000, true), undefined);
    assert.equal(await other.extend(30_000), true);
  }),
};
