import assert from 'node:assert/strict';
import { aKey, aRequest } from '../backend.js';
import { needing } from '../check.js';
import type { Check } from '../check.js';

/** More than any store should put into one of its calls. */
const MANY = 250;

/** For stores that extend many leases by one question. */
export const extendManyChecks: Record<string, Check> = {
  'extends many leases by one question, each as its own extend would': needing(
    ['extendMany', 'ttl'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = Array.from({ length: MANY }, () => aKey());
      const leases = await Promise.all(
        keys.map((key) => backend.hold(a, aRequest({ keys: [key], ttl: 5_000 }))),
      );
      assert.deepEqual(await a.extendMany!(leases, 60_000), new Map());
      await backend.expire(20);
      for (const key of [keys[0]!, keys[MANY - 1]!]) {
        assert.equal(await b.tryAcquire(aRequest({ keys: [key] })), undefined);
        const { remaining = 60_000 } = (await b.inspect?.(key)) ?? {};
        assert.ok(remaining > 30_000, `${remaining} ms are left of 60000`);
      }
      assert.deepEqual(await a.extendMany!(leases, 50), new Map());
      await backend.expire(100);
      await backend.hold(b, aRequest({ keys: [keys[1]!] }));
      const gone = await a.extendMany!(leases, 60_000);
      assert.deepEqual(new Set(gone.keys()), new Set(leases));
      for (const answer of gone.values()) assert.equal(answer, false);
    },
  ),

  'extends those leases of many that are still ours': needing(
    ['extendMany', 'ttl'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = Array.from({ length: 5 }, () => aKey());
      const leases = await Promise.all(
        keys.map((key) => backend.hold(a, aRequest({ keys: [key], ttl: 5_000 }))),
      );
      await leases[1]!.release();
      await leases[3]!.release();
      const other = await backend.hold(b, aRequest({ keys: [keys[3]!], ttl: 5_000 }));
      const exceptions = await a.extendMany!(leases, 60_000);
      assert.deepEqual([...exceptions.keys()], [leases[1], leases[3]]);
      assert.deepEqual([...exceptions.values()], [false, false]);
      assert.equal(await other.extend(30_000), true);
      assert.equal(await leases[0]!.release(), true);
      assert.deepEqual(
        [...(await a.extendMany!(leases.slice(0, 3), 60_000)).keys()],
        leases.slice(0, 2),
      );
    },
  ),

  'extends leases of every kind by one question': needing(
    ['extendMany', 'ttl'],
    async (backend) => {
      const store = await backend.store();
      const { supports } = store;
      const requests = [aRequest(), aRequest()];
      if (supports.manyKeys) requests.push(aRequest({ keys: [aKey(), aKey()].toSorted() }));
      if (supports.readLocks) requests.push(aRequest({ permits: Infinity }));
      if (supports.semaphores) requests.push(aRequest({ permits: 3 }));
      const leases = await Promise.all(requests.map((request) => backend.hold(store, request)));
      assert.deepEqual(await store.extendMany!(leases, 60_000), new Map());
      for (const lease of leases) assert.equal(await lease.release(), true);
      const gone = await store.extendMany!(leases, 60_000);
      assert.deepEqual(new Set(gone.keys()), new Set(leases));
      assert.deepEqual(await store.extendMany!([], 60_000), new Map());
    },
  ),
};
