import assert from 'node:assert/strict';
import { aKey, aRequest } from './backend.js';
import type { Check } from './backend.js';

/** A store is held to what it declares in `supports`. */
export const featureChecks: Record<string, Check> = {
  'has a name and declares its features': async (backend) => {
    const { name, supports } = await backend.store();
    assert.ok(typeof name === 'string' && name.length > 0);
    assert.equal(typeof supports.fencing, 'boolean');
    assert.equal(typeof supports.ttl, 'boolean');
  },

  'frees the key when the ttl has passed': async (backend) => {
    const [a, b] = await backend.stores();
    if (!a.supports.ttl) return;
    const { keys } = aRequest();
    const lease = await backend.hold(a, aRequest({ keys: [...keys], ttl: 100 }));
    await backend.expire(150);
    await backend.hold(b, aRequest({ keys: [...keys] }));
    assert.equal(await lease.extend(1_000), false);
  },

  'keeps the key for the whole ttl': async (backend) => {
    const [a, b] = await backend.stores();
    if (!a.supports.ttl) return;
    const keys = [aKey()];
    await backend.hold(a, aRequest({ keys, ttl: 30_000 }));
    await backend.expire(20);
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
  },

  'keeps an extended key beyond its first ttl': async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys, ttl: 100 }));
    assert.equal(await lease.extend(30_000), true);
    await backend.expire(150);
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
    assert.equal(await lease.release(), true);
  },

  'can shorten a ttl by extending': async (backend) => {
    const [a, b] = await backend.stores();
    if (!a.supports.ttl) return;
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys, ttl: 30_000 }));
    assert.equal(await lease.extend(100), true);
    await backend.expire(150);
    await backend.hold(b, aRequest({ keys }));
  },

  'raises the fencing token with every grant': async (backend) => {
    const [a, b] = await backend.stores();
    if (!a.supports.fencing) return;
    const keys = [aKey()];
    let last = 0n;
    for (const store of [a, b, b, a, a]) {
      const lease = await backend.hold(store, aRequest({ keys }));
      assert.equal(typeof lease.fencingToken, 'bigint');
      assert.ok(lease.fencingToken! > last, `${lease.fencingToken} after ${last}`);
      last = lease.fencingToken!;
      await lease.release();
    }
  },

  'raises the fencing token after an expiry': async (backend) => {
    const [a, b] = await backend.stores();
    if (!a.supports.fencing || !a.supports.ttl) return;
    const keys = [aKey()];
    const first = await backend.hold(a, aRequest({ keys, ttl: 50 }));
    await backend.expire(100);
    const second = await backend.hold(b, aRequest({ keys }));
    assert.ok(second.fencingToken! > first.fencingToken!);
  },

  'raises the fencing token to the floor of the request': async (backend) => {
    const store = await backend.store();
    if (!store.supports.fencing || store.supports.fencingFloor === false) return;
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

  'has tokens that grow over all keys alike, where a request cannot raise them': async (
    backend,
  ) => {
    const [a, b] = await backend.stores();
    if (!a.supports.fencing || a.supports.fencingFloor !== false) return;
    let last = 0n;
    for (const store of [a, b, b, a]) {
      const { fencingToken } = await backend.hold(store);
      assert.ok(fencingToken! > last, `${fencingToken} after ${last}`);
      last = fencingToken!;
    }
  },

  'tells who holds a key, and nothing of a free one': async (backend) => {
    const [a, b] = await backend.stores();
    if (!a.inspect || !b.inspect) return;
    const keys = [aKey()];
    assert.equal(await b.inspect(keys[0]!), undefined);
    const request = aRequest({ keys, ttl: 30_000 });
    const lease = await backend.hold(a, request);
    const seen = await b.inspect(keys[0]!);
    assert.ok(seen);
    assert.equal(seen.key, keys[0]);
    assert.equal(seen.holder, request.holder);
    assert.equal(seen.fencingToken, lease.fencingToken);
    if (a.supports.ttl) assert.ok((seen.remaining ?? 0) > 0 && seen.remaining! <= 30_000);
    await lease.release();
    assert.equal(await b.inspect(keys[0]!), undefined);
  },
};
