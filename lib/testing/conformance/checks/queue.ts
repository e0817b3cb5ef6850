import assert from 'node:assert/strict';
import { aKey, aRequest } from '../backend.js';
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
};
