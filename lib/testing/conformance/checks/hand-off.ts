import assert from 'node:assert/strict';
import { aKey, aRequest } from '../backend.js';
import { needing } from '../check.js';
import type { Check } from '../check.js';
import type { Lease } from '../../../core/contract/lock-store.js';

/** For stores whose leases are handed off inside a process. */
export const handOffChecks: Record<string, Check> = {
  'hands a lease off with a larger fencing token, asked or not': needing(
    ['handOff'],
    async (backend) => {
      const [a, b] = await backend.stores();
      for (const renews of [[false], [false, true], [false, true, false, false]]) {
        const keys = [aKey()];
        const leases = await backend.handOff(a, aRequest({ keys }), ...renews);
        assert.ok(leases, 'nobody else waits, so the next holder is one of this process');
        if (a.supports.fencing) assertRising(leases);
        assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
        const last = leases.at(-1)!;
        assert.equal(await last.extend(30_000), true);
        assert.equal(await last.release(), true);
        const after = await backend.hold(b, aRequest({ keys }));
        if (b.supports.fencing) assertRising([last, after]);
      }
    },
  ),

  'gives a renewed lease the ttl that was asked for': needing(['handOff'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const [, next] = (await backend.handOff(a, aRequest({ keys, ttl: 100 }), true))!;
    await backend.expire(150);
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
    assert.equal(await next!.release(), true);
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

function assertRising(leases: Lease[]): void {
  for (const [at, lease] of leases.slice(1).entries())
    assert.ok(lease.fencingToken! > leases[at]!.fencingToken!);
}
