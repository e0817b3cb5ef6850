import assert from 'node:assert/strict';
import { LockPermitsError } from '../../../../core/contract/lock-errors.js';
import type { LockStore } from '../../../../core/contract/lock-store.js';
import { aKey, aRequest } from '../../backend.js';
import { needing } from '../../check.js';
import type { Check } from '../../check.js';

/** Milliseconds in which a waiter has most likely entered the queue, and listens: later events have to wake it. */
export const IN_QUEUE = 50;

/** For stores in whose queue sharers of a key wait. */
export const sharingQueueChecks: Record<string, Check> = {
  'lets no reader overtake a writer in line, and readers behind it in together': needing(
    ['queue', 'readLocks'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      const reader = await backend.hold(a, aRequest({ keys, permits: Infinity }));
      const writing = backend.wait(b, aRequest({ keys }));
      await until(() => isRefused(a, keys));
      const reading = [
        backend.wait(a, aRequest({ keys, permits: Infinity })),
        backend.wait(b, aRequest({ keys, permits: Infinity })),
      ];
      assert.equal(await reader.release(), true);
      const writer = await writing;
      assert.equal(await a.tryAcquire(aRequest({ keys, permits: Infinity })), undefined);
      assert.equal(await writer.release(), true);
      const readers = await Promise.all(reading);
      assert.equal(await a.tryAcquire(aRequest({ keys })), undefined);
      for (const lease of readers) assert.equal(await lease.release(), true);
      await backend.hold(a, aRequest({ keys }));
    },
  ),

  'hands each permit that comes back to one in line': needing(['permitQueue'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const permits = 2;
    const first = await backend.hold(a, aRequest({ keys, permits }));
    const second = await backend.hold(b, aRequest({ keys, permits }));
    const waiting = [
      backend.wait(b, aRequest({ keys, permits })),
      backend.wait(a, aRequest({ keys, permits })),
    ];
    await backend.expire(IN_QUEUE);
    assert.equal(await first.release(), true);
    const turn = await Promise.race(waiting.map((each, index) => each.then(() => index)));
    assert.equal(await a.tryAcquire(aRequest({ keys, permits })), undefined);
    await backend.expire(IN_QUEUE);
    assert.equal(await second.release(), true);
    const fourth = await waiting[1 - turn]!; // though the third one stays
    assert.equal(await b.tryAcquire(aRequest({ keys, permits })), undefined);
    const third = await waiting[turn]!;
    assert.equal(await third.release(), true);
    await backend.hold(a, aRequest({ keys, permits }));
    assert.equal(await fourth.release(), true);
  }),

  'gives no permit past one in line who wants the key alone': needing(
    ['queue', 'semaphores'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      const permits = 3;
      const lease = await backend.hold(a, aRequest({ keys, permits }));
      const writing = backend.wait(b, aRequest({ keys }));
      await until(() => isRefused(a, keys, permits));
      assert.equal(await lease.release(), true);
      const writer = await writing;
      assert.equal(await writer.release(), true);
      await backend.hold(a, aRequest({ keys, permits }));
    },
  ),

  'lets the next ones in when a writer in front of them gives up': needing(
    ['queue', 'readLocks'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      await backend.hold(a, aRequest({ keys, permits: Infinity }));
      const wait = new AbortController();
      const writing = b.acquire!(aRequest({ keys }), wait.signal);
      await until(() => isRefused(a, keys));
      const reading = backend.wait(a, aRequest({ keys, permits: Infinity }));
      await backend.expire(IN_QUEUE);
      wait.abort(new Error('enough'));
      await assert.rejects(writing, /enough/);
      assert.equal(await (await reading).release(), true);
    },
  ),

  'refuses to wait with other permits': needing(['permitQueue'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lease = await backend.hold(a, aRequest({ keys, permits: 1 }));
    await assert.rejects(backend.wait(b, aRequest({ keys, permits: 2 })), LockPermitsError);
    assert.equal(await lease.release(), true);
  }),
};

/** Whether a reader, or one of so many, would have to wait. */
async function isRefused(store: LockStore, keys: string[], permits = Infinity): Promise<boolean> {
  const lease = await store.tryAcquire(aRequest({ keys, permits }));
  await lease?.release();
  return lease === undefined;
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 10_000; tries++) {
    if (await isTrue()) return;
    await new Promise(setImmediate);
  }
  assert.fail('a waiter did not come to stand in line');
}
