import assert from 'node:assert/strict';
import { aKey, aRequest } from './backend.js';
import type { Check } from './backend.js';

/** For stores whose leases are passed on inside a process. */
export const passOnChecks: Record<string, Check> = {
  'passes a lease on with a larger fencing token, asked or not': async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    let lease = await backend.hold(a, aRequest({ keys }));
    let passed = lease.passOn?.(30_000, false);
    if (!passed) return;
    for (const renew of [true, false, false]) {
      const next = await passed;
      assert.ok(next, 'nobody else waits, so the next holder is one of this process');
      if (a.supports.fencing) assert.ok(next.fencingToken! > lease.fencingToken!);
      assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
      lease = next;
      passed = lease.passOn!(30_000, renew);
    }
    lease = (await passed)!;
    assert.equal(await lease.extend(30_000), true);
    const last = lease.fencingToken;
    assert.equal(await lease.release(), true);
    const after = await backend.hold(b, aRequest({ keys }));
    if (b.supports.fencing) assert.ok(after.fencingToken! > last!);
  },

  'gives a renewed lease the ttl that was asked for': async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys, ttl: 100 }));
    const passed = lease.passOn?.(30_000, true);
    if (!passed) return;
    const next = await passed;
    await backend.expire(150);
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
    assert.equal(await next?.release(), true);
  },

  'passes nothing on that it has lost': async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys, ttl: 50 }));
    if (!lease.passOn || !a.supports.ttl) return;
    await backend.expire(100);
    const other = await backend.hold(b, aRequest({ keys }));
    assert.equal(await lease.passOn(30_000, true), undefined);
    assert.equal(await other.extend(30_000), true);
  },
};
