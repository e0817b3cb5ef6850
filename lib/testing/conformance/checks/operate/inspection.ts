import assert from 'node:assert/strict';
import type { LockStore } from '../../../../core/contract/lock-store.js';
import { aKey, aRequest, type Backend } from '../../backend.js';
import { until } from '../../until.js';
import { needing } from '../../check.js';
import type { Check } from '../../check.js';

/** Milliseconds by which clocks that tick differently may differ. */
const TICK = 20;
/** Keys that are tried until the store knows for how long one is held. */
const KEYS_TRIED = 10;

/** The times and the waiters that `inspect` tells. */
export const inspectionChecks: Record<string, Check> = {
  'tells for how long a key has been held': needing(['heldFor'], async (backend) => {
    const [a, b] = await backend.stores();
    const { key, lease, before } = await holdTimed(backend, a);
    await backend.expire(200);
    const heldFor = await timeHeld(b, key);
    assert.ok(heldFor >= 200 - TICK, `held for ${heldFor} ms, at least 200 are due`);
    const most = 200 + TICK + performance.now() - before;
    assert.ok(heldFor <= most, `held for ${heldFor} ms, at most ${most} are due`);
    await lease.release();
  }),

  'counts the time of a holder from its own grant on': needing(['heldFor'], async (backend) => {
    const [a, b] = await backend.stores();
    const { key, lease: first } = await holdTimed(backend, a);
    await backend.expire(200);
    await first.extend(30_000);
    await first.release();
    const before = performance.now();
    const second = await backend.hold(b, aRequest({ keys: [key] }));
    const heldFor = await timeHeld(a, key);
    assert.ok(heldFor <= TICK + performance.now() - before, `held for ${heldFor} ms`);
    await second.release();
  }),

  'does not count the time of a waiter as that of a holder': needing(
    ['heldFor', 'queue'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const { key, lease } = await holdTimed(backend, a);
      const waiting = backend.wait(b, aRequest({ keys: [key] }));
      await backend.expire(200);
      const before = performance.now();
      await lease.release();
      const next = await waiting;
      const { heldFor = 0 } = (await a.inspect!(key))!; // a store may not know when a waiter got its key
      assert.ok(heldFor <= TICK + performance.now() - before, `held for ${heldFor} ms`);
      await next.release();
    },
  ),

  'tells who waits, in order': needing(['queue', 'waiters'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const waiters = async () => {
      const { waiters: names, waiterCount } = (await a.inspect!(keys[0]!))!;
      return [names, waiterCount];
    };
    const lease = await backend.hold(a, aRequest({ keys }));
    assert.deepEqual(await waiters(), [[], 0]);
    const waiting = [];
    for (const holder of ['one:1:1', 'two:2:2']) {
      waiting.push(backend.wait(b, { ...aRequest({ keys }), holder }));
      await until(async () => (await waiters())[1] === waiting.length, `${holder} to wait`);
    }
    assert.deepEqual(await waiters(), [['one:1:1', 'two:2:2'], 2]);
    await lease.release();
    const first = await waiting[0]!;
    assert.deepEqual(await waiters(), [['two:2:2'], 1]);
    assert.equal((await a.inspect!(keys[0]!))?.holder, 'one:1:1');
    await first.release();
    const second = await waiting[1]!;
    assert.deepEqual(await waiters(), [[], 0]);
    await second.release();
  }),

  'changes nothing': needing(['inspect'], async (backend) => {
    const [a, b] = await backend.stores();
    const request = aRequest();
    const lease = await backend.hold(a, request);
    for (let times = 0; times < 3; times++) await b.inspect!(request.key);
    if (b.list) await b.list({ match: request.key, limit: 10 });
    assert.equal(await lease.release(), true);
    assert.equal(await b.inspect!(request.key), undefined);
  }),
};

/**
 * Takes a key of which the store tells for how long it is held. Keys may share a counter of fencing tokens. A check that raised
 * it put it ahead of the clock, and then the store does not know the time of the keys beside.
 */
async function holdTimed(backend: Backend, store: LockStore) {
  for (let tries = 0; tries < KEYS_TRIED; tries++) {
    const before = performance.now();
    const key = aKey();
    const lease = await backend.hold(store, aRequest({ keys: [key] }));
    if ((await store.inspect!(key))?.heldFor !== undefined) return { key, lease, before };
    await lease.release();
  }
  return assert.fail(`the store told of none of ${KEYS_TRIED} held keys for how long it is held`);
}

async function timeHeld(store: LockStore, key: string): Promise<number> {
  const seen = await store.inspect!(key);
  assert.equal(typeof seen?.heldFor, 'number', `"${key}" should be held, for a known time`);
  return seen!.heldFor!;
}
