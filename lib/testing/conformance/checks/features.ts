import assert from 'node:assert/strict';
import { aKey, aRequest } from '../backend.js';
import { needing } from '../check.js';
import type { Check } from '../check.js';

/** A store is held to what it declares in `supports`. */
export const featureChecks: Record<string, Check> = {
  'has a name and declares its features': async (backend) => {
    const { name, supports } = await backend.store();
    assert.ok(typeof name === 'string' && name.length > 0);
    assert.equal(typeof supports.fencing, 'boolean');
    assert.equal(typeof supports.ttl, 'boolean');
  },

  'frees the key when the ttl has passed': needing(['ttl'], async (backend) => {
    const [a, b] = await backend.stores();
    const { keys } = aRequest();
    const lease = await backend.hold(a, aRequest({ keys: [...keys], ttl: 100 }));
    await backend.expire(150);
    await backend.hold(b, aRequest({ keys: [...keys] }));
    assert.equal(await lease.extend(1_000), false);
  }),

  'keeps the key for the whole ttl': needing(['ttl'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    await backend.hold(a, aRequest({ keys, ttl: 30_000 }));
    await backend.expire(20);
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
  }),

  'keeps an extended key beyond its first ttl': async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys, ttl: 100 }));
    assert.equal(await lease.extend(30_000), true);
    await backend.expire(150);
    assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
    assert.equal(await lease.release(), true);
  },

  'can shorten a ttl by extending': needing(['ttl'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys, ttl: 30_000 }));
    assert.equal(await lease.extend(100), true);
    await backend.expire(150);
    await backend.hold(b, aRequest({ keys }));
  }),

  'tells who holds a key, and nothing of a free one': needing(['inspect'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    assert.equal(await b.inspect!(keys[0]!), undefined);
    const request = aRequest({ keys, ttl: 30_000 });
    const lease = await backend.hold(a, request);
    const seen = await b.inspect!(keys[0]!);
    assert.ok(seen);
    assert.equal(seen.key, keys[0]);
    assert.equal(seen.holder, request.holder);
    // A revision grows with other keys, too: what is told is an upper bound.
    if (a.supports.fencingFloor === false) assert.ok(seen.fencingToken! >= lease.fencingToken!);
    else assert.equal(seen.fencingToken, lease.fencingToken);
    if (a.supports.ttl) assert.ok((seen.remaining ?? 0) > 0 && seen.remaining! <= 30_000);
    await lease.release();
    assert.equal(await b.inspect!(keys[0]!), undefined);
  }),
};
