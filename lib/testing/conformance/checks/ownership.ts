import assert from 'node:assert/strict';
import { aKey, aRequest } from '../backend.js';
import { needing } from '../check.js';
import type { Check } from '../check.js';

/** Which token may hold, extend and free a key. */
export const ownershipChecks: Record<string, Check> = {
  'grants a free key': async (backend) => {
    await backend.hold(await backend.store());
  },

  'refuses a held key to another process': async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    await backend.hold(a, aRequest({ keys }));
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
  },

  'is not re-entrant: another token of the same process is refused': async (backend) => {
    const store = await backend.store();
    const keys = [aKey()];
    await backend.hold(store, aRequest({ keys }));
    assert.equal(await store.tryAcquire(aRequest({ keys })), undefined);
  },

  'is idempotent per token: a repeated attempt is granted again': async (backend) => {
    const [a, b] = await backend.stores();
    const request = aRequest();
    const first = await backend.hold(a, request);
    const again = await backend.hold(a, request);
    assert.equal(await b.tryAcquire(aRequest({ keys: [...request.keys] })), undefined);
    if (a.supports.fencing) assert.ok(again.fencingToken! >= first.fencingToken!);
    assert.equal(await again.release(), true);
    await backend.hold(b, aRequest({ keys: [...request.keys] }));
  },

  'grants a released key again': async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys }));
    assert.equal(await lease.release(), true);
    await backend.hold(b, aRequest({ keys }));
  },

  'says so when a lease was released already': async (backend) => {
    const lease = await backend.hold(await backend.store());
    assert.equal(await lease.release(), true);
    assert.equal(await lease.release(), false);
    assert.equal(await lease.extend(1_000), false);
  },

  'does not let a stale holder free or extend its successor': async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const stale = await backend.hold(a, aRequest({ keys, ttl: 50 }));
    if (a.supports.ttl) await backend.expire(100);
    else await stale.release();
    const successor = await backend.hold(b, aRequest({ keys }));
    assert.equal(await stale.extend(60_000), false);
    assert.equal(await stale.release(), false);
    assert.equal(await a.tryAcquire(aRequest({ keys })), undefined);
    assert.equal(await successor.extend(30_000), true);
  },

  'knows that an expired lease is not ours, though nobody took the key': needing(
    ['ttl'],
    async (backend) => {
      const store = await backend.store();
      const lease = await backend.hold(store, aRequest({ ttl: 50 }));
      await backend.expire(100);
      assert.equal(await lease.release(), false);
    },
  ),

  'keeps its keys apart': async (backend) => {
    const [a, b] = await backend.stores();
    const first = await backend.hold(a);
    await backend.hold(b);
    await backend.hold(a);
    assert.equal(await first.release(), true);
  },
};
