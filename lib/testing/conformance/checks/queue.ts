import assert from 'node:assert/strict';
import type { AcquireRequest, Lease, LockStore } from '../../../core/contract/lock-store.js';
import { aKey, aRequest } from '../backend.js';
import type { Backend } from '../backend.js';
import { needing } from '../check.js';
import type { Check } from '../check.js';

/** For stores that wait themselves. */
export const queueChecks: Record<string, Check> = {
  'hands a released key to the one who waits in the queue': needing(['queue'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys }));
    const waiting = backend.wait(b, aRequest({ keys }));
    await lease.release();
    const next = await waiting;
    assert.equal(await next.release(), true);
  }),

  'leaves nothing behind when a wait is aborted': needing(['queue'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys }));
    const wait = new AbortController();
    const waiting = b.acquire!(aRequest({ keys }), wait.signal);
    const reason = new Error('enough');
    wait.abort(reason);
    await assert.rejects(waiting, (error) => error === reason);
    assert.equal(await lease.release(), true);
    await backend.hold(a, aRequest({ keys }));
  }),

  'has a larger fencing token for the one who waits for one of several keys': needing(
    ['queue', 'manyKeys', 'fencing'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey(), aKey()].toSorted();
      for (const key of keys) {
        const both = await backend.hold(a, aRequest({ keys }));
        const waiting = backend.wait(b, aRequest({ keys: [key] }));
        await both.release();
        const next = await waiting;
        assert.ok(next.fencingToken! > both.fencingToken!);
        assert.equal(await next.release(), true);
      }
    },
  ),

  'grants several keys to the one who waited for one of them': needing(
    ['queue', 'queuesManyKeys'],
    (backend) => takeFromQueue(backend),
  ),

  'shares several keys with the one who waited for one of them': needing(
    ['queue', 'queuesManyKeys', 'readLocks'],
    (backend) => takeFromQueue(backend, Infinity),
  ),
};

/** A caller that got one key from the queue gets the others too, even while another caller waits for that key. */
async function takeFromQueue(backend: Backend, permits?: number): Promise<void> {
  const [a, b] = await backend.stores();
  const keys = [aKey(), aKey()].toSorted();
  for (const key of keys) {
    const before = await backend.hold(a, aRequest({ keys: [key] }));
    const request = aRequest({ keys: [key], permits });
    const waiting = backend.wait(b, request);
    await before.release();
    await waiting;
    const behind = backend.wait(a, aRequest({ keys: [key] }));
    const leases = await takeAll(b, { ...request, key: keys[0]!, keys });
    for (const each of keys)
      assert.equal(await a.tryAcquire(aRequest({ keys: [each] })), undefined);
    for (const lease of leases) assert.equal(await lease.release(), true);
    const next = await behind;
    const token = leases[0]!.fencingToken;
    if (token !== undefined) assert.ok(next.fencingToken! > token);
    assert.equal(await next.release(), true);
  }
  for (const key of keys) await backend.hold(a, aRequest({ keys: [key] }));
}

/** All keys, of which the same token has one already. */
async function takeAll(store: LockStore, request: AcquireRequest): Promise<Lease[]> {
  const { keys } = request;
  const requests = store.supports.manyKeys
    ? [request]
    : keys.map((key) => ({ ...request, key, keys: [key] }));
  const leases: Lease[] = [];
  for (const each of requests) {
    const lease = await store.tryAcquire(each);
    assert.ok(lease, `"${each.keys.join(', ')}" should have been granted again`);
    leases.push(lease);
  }
  return leases;
}
