import assert from 'node:assert/strict';
import { aKey, aRequest, until } from '../../backend.js';
import { needing } from '../../check.js';
import type { Check } from '../../check.js';

/** Milliseconds by which clocks that tick differently may differ. */
const TICK = 20;

/** The times and the waiters that `inspect` tells. */
export const inspectionChecks: Record<string, Check> = {
  'tells for how long a key has been held': needing(['heldFor'], async (backend) => {
    const [a, b] = await backend.stores();
    const before = performance.now();
    const request = aRequest();
    const lease = await backend.hold(a, request);
    await backend.expire(200);
    const seen = await b.inspect!(request.key);
    assert.ok(seen!.heldFor! >= 200 - TICK, `held for ${seen!.heldFor} ms, at least 200 are due`);
    assert.ok(seen!.heldFor! <= 200 + TICK + performance.now() - before);
    await lease.release();
  }),

  'counts the time of a holder from its own grant on': needing(['heldFor'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const first = await backend.hold(a, aRequest({ keys }));
    await backend.expire(200);
    await first.extend(30_000);
    await first.release();
    const before = performance.now();
    const second = await backend.hold(b, aRequest({ keys }));
    const { heldFor = 0 } = (await a.inspect!(keys[0]!))!;
    assert.ok(heldFor <= TICK + performance.now() - before, `held for ${heldFor} ms`);
    await second.release();
  }),

  'does not count the time of a waiter as that of a holder': needing(
    ['heldFor', 'queue'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const request = aRequest();
      const lease = await backend.hold(a, aRequest({ keys: [...request.keys] }));
      const waiting = backend.wait(b, request);
      await backend.expire(200);
      const before = performance.now();
      await lease.release();
      const next = await waiting;
      const { heldFor = 0 } = (await a.inspect!(request.key))!;
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
