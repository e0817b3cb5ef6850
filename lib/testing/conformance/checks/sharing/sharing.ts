import assert from 'node:assert/strict';
import { LockPermitsError } from '../../../../core/contract/lock-errors.js';
import type { LockStore } from '../../../../core/contract/lock-store.js';
import { aKey, aRequest } from '../../backend.js';
import { needing } from '../../check.js';
import type { Check } from '../../check.js';
import { forEachKind, permitsOf } from './kinds.js';
import type { KindCheck } from './kinds.js';

const kindChecks: Record<string, KindCheck> = {
  'lets as many share a key as its permits say': async (backend, permits) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    for (const store of [a, b, a]) await backend.hold(store, aRequest({ keys, permits }));
    const fourth = await b.tryAcquire(aRequest({ keys, permits }));
    assert.equal(fourth !== undefined, permits === Infinity);
    await fourth?.release();
  },

  'lets nobody share a key that somebody has alone': async (backend, permits) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const alone = await backend.hold(a, aRequest({ keys }));
    assert.equal(await b.tryAcquire(aRequest({ keys, permits })), undefined);
    assert.equal(await alone.release(), true);
    await backend.hold(b, aRequest({ keys, permits }));
  },

  'gives a shared key to one alone when the last has left': async (backend, permits) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const first = await backend.hold(a, aRequest({ keys, permits }));
    const second = await backend.hold(b, aRequest({ keys, permits }));
    for (const lease of [first, second]) {
      assert.equal(await a.tryAcquire(aRequest({ keys })), undefined);
      assert.equal(await lease.release(), true);
    }
    await backend.hold(a, aRequest({ keys }));
  },

  'counts a sharer once, however often it asks': async (backend, permits) => {
    const [a, b] = await backend.stores();
    const request = aRequest({ permits });
    const lease = await backend.hold(a, request);
    for (let again = 0; again < 3; again++) await backend.hold(a, request);
    const keys = [...request.keys];
    const others = [];
    for (const store of [a, b]) others.push(await backend.hold(store, aRequest({ keys, permits })));
    for (const other of others) assert.equal(await other.release(), true);
    assert.equal(await lease.release(), true);
    await backend.hold(b, aRequest({ keys }));
  },

  'gives a permit back once': async (backend, permits) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const stay = await backend.hold(a, aRequest({ keys, permits }));
    const lease = await backend.hold(b, aRequest({ keys, permits }));
    assert.equal(await lease.release(), true);
    assert.equal(await lease.release(), false);
    assert.equal(await lease.extend(1_000), false);
    assert.equal(await stay.extend(30_000), true);
    assert.equal(await a.tryAcquire(aRequest({ keys })), undefined);
  },

  'refuses other permits while a key is in use': async (backend, permits) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys, permits }));
    const others = [...permitsOf(b), ...(b.supports.semaphores ? [7] : [])];
    for (const other of others.filter((each) => each !== permits)) {
      const asked = b.tryAcquire(aRequest({ keys, permits: other }));
      await assert.rejects(asked, (error) => {
        assert.ok(error instanceof LockPermitsError, String(error));
        assert.deepEqual([error.permits, error.inUse], [other, permits]);
        return true;
      });
    }
    assert.equal(await lease.release(), true);
    if (b.supports.semaphores) await backend.hold(b, aRequest({ keys, permits: 7 }));
  },

  'has fencing tokens for those who hold a key alone only': needing(
    ['fencing'],
    async (backend, permits) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      const before = await backend.hold(a, aRequest({ keys }));
      await before.release();
      const shared = await backend.hold(b, aRequest({ keys, permits }));
      assert.equal(shared.fencingToken, undefined);
      await shared.release();
      const after = await backend.hold(b, aRequest({ keys }));
      assert.ok(after.fencingToken! > before.fencingToken!);
    },
  ),

  'shares several keys, all or none': needing(['manyKeys'], async (backend, permits) => {
    const [a, b] = await backend.stores();
    const keys = [aKey(), aKey()].toSorted();
    const both = await backend.hold(a, aRequest({ keys, permits }));
    await backend.hold(b, aRequest({ keys: [keys[1]!], permits }));
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
    assert.equal(await both.release(), true);
    const first = await backend.hold(a, aRequest({ keys: [keys[0]!] }));
    assert.equal(await b.tryAcquire(aRequest({ keys, permits })), undefined);
    assert.equal(await first.release(), true);
    await backend.hold(b, aRequest({ keys, permits }));
  }),

  'tells who shares a key': needing(['inspect'], async (backend, permits) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const requests = ['one:1:1', 'two:2:2'].map((holder) => ({
      ...aRequest({ keys, permits }),
      holder,
    }));
    const leases = [await backend.hold(a, requests[0]), await backend.hold(b, requests[1])];
    const seen = await a.inspect!(keys[0]!);
    assert.equal(seen?.permits, permits);
    assert.deepEqual(seen?.holders?.toSorted(), ['one:1:1', 'two:2:2']);
    assert.equal(seen?.fencingToken, undefined);
    for (const lease of leases) await lease.release();
    assert.equal(await b.inspect!(keys[0]!), undefined);
  }),
};

/** For stores whose keys may be held by several: read locks and semaphores. */
export const sharingChecks: Record<string, Check> = {
  ...forEachKind(kindChecks),

  'never has more sharers than permits': needing(['semaphores'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    let inside = 0;
    let most = 0;
    const worker = async (store: LockStore) => {
      for (let done = 0; done < 8;) {
        const lease = await store.tryAcquire(aRequest({ keys, permits: 3 }));
        await new Promise(setImmediate);
        if (!lease) continue;
        most = Math.max(most, ++inside);
        await new Promise(setImmediate);
        inside--;
        assert.equal(await lease.release(), true);
        done++;
      }
    };
    await Promise.all([a, b, a, b, a, b].map(worker));
    assert.ok(most <= 3, `${most} had one of 3 permits`);
  }),
};
