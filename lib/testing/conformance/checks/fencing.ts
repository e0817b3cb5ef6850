import assert from 'node:assert/strict';
import { aKey, aRequest } from '../backend.js';
import { needing } from '../check.js';
import type { Check } from '../check.js';

/** Fencing tokens, and what raises them. */
export const fencingChecks: Record<string, Check> = {
  'raises the fencing token with every grant': needing(['fencing'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    let last = 0n;
    for (const store of [a, b, b, a, a]) {
      const lease = await backend.hold(store, aRequest({ keys }));
      assert.equal(typeof lease.fencingToken, 'bigint');
      assert.ok(lease.fencingToken! > last, `${lease.fencingToken} after ${last}`);
      last = lease.fencingToken!;
      await lease.release();
    }
  }),

  'raises the fencing token after an expiry': needing(['fencing', 'ttl'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const first = await backend.hold(a, aRequest({ keys, ttl: 50 }));
    await backend.expire(100);
    const second = await backend.hold(b, aRequest({ keys }));
    assert.ok(second.fencingToken! > first.fencingToken!);
  }),

  'raises the fencing token to the floor of the request': needing(
    ['fencingFloor'],
    async (backend) => {
      const store = await backend.store();
      const keys = [aKey()];
      const first = await backend.hold(store, aRequest({ keys }));
      await first.release();
      const fencingFloor = first.fencingToken! + 1_000_000_000n;
      const second = await backend.hold(store, { ...aRequest({ keys }), fencingFloor });
      assert.ok(second.fencingToken! >= fencingFloor);
      await second.release();
      const third = await backend.hold(store, aRequest({ keys }));
      assert.ok(third.fencingToken! > second.fencingToken!);
    },
  ),

  'has tokens that grow over all keys alike, where a request cannot raise them': needing(
    ['globalTokens'],
    async (backend) => {
      const [a, b] = await backend.stores();
      let last = 0n;
      for (const store of [a, b, b, a]) {
        const { fencingToken } = await backend.hold(store);
        assert.ok(fencingToken! > last, `${fencingToken} after ${last}`);
        last = fencingToken!;
      }
    },
  ),

  'keeps a fencing token that is beyond the floor of the request': needing(
    ['fencingFloor'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      const first = await backend.hold(a, aRequest({ keys }));
      await first.release();
      const second = await backend.hold(b, { ...aRequest({ keys }), fencingFloor: 1n });
      assert.ok(second.fencingToken! > first.fencingToken!);
    },
  ),

  'raises the fencing counter of a lease: every later grant has a larger token': needing(
    ['raiseFencing'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      const lease = await backend.hold(a, aRequest({ keys }));
      const from = lease.fencingToken!;
      const to = from + 1_000_000_000n;
      assert.equal(await lease.raiseFencing!({ from, to }), true);
      assert.equal(await lease.release(), true);
      const next = await backend.hold(b, aRequest({ keys }));
      assert.ok(next.fencingToken! > to);
    },
  ),

  'raises no fencing counter that is beyond what the caller knows': needing(
    ['raiseFencing'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      const lease = await backend.hold(a, aRequest({ keys }));
      const own = lease.fencingToken!;
      const to = own + 1_000_000_000n;
      assert.equal(await lease.raiseFencing!({ from: own - 1n, to }), false);
      assert.equal(await lease.release(), true);
      const next = await backend.hold(b, aRequest({ keys }));
      assert.ok(next.fencingToken! > own && next.fencingToken! < to);
    },
  ),

  'raises no fencing counter for a lease that is gone': needing(
    ['raiseFencing'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      const gone = await backend.hold(a, aRequest({ keys }));
      await gone.release();
      const lease = await backend.hold(b, aRequest({ keys }));
      const to = lease.fencingToken! + 1_000_000_000n;
      assert.equal(await gone.raiseFencing!({ from: lease.fencingToken!, to }), false);
      assert.equal(await lease.release(), true);
      const next = await backend.hold(a, aRequest({ keys }));
      assert.ok(next.fencingToken! < to);
    },
  ),
};
