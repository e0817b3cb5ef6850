import assert from 'node:assert/strict';
import { aKey, aRequest } from '../../backend.js';
import { needing } from '../../check.js';
import type { Check } from '../../check.js';
import { forEachKind } from './kinds.js';

/** For stores where each sharer of a key has a ttl of its own. */
export const sharingTtlChecks: Record<string, Check> = forEachKind({
  'frees the permit of a sharer whose ttl has passed': needing(
    ['ttl'],
    async (backend, permits) => {
      const [a, b] = await backend.stores();
      const keys = [aKey()];
      const kept = await backend.hold(a, aRequest({ keys, permits, ttl: 100 }));
      const lapsed = await backend.hold(b, aRequest({ keys, permits, ttl: 100 }));
      assert.equal(await kept.extend(30_000), true);
      await backend.expire(150);
      assert.equal(await lapsed.extend(30_000), false);
      assert.equal(await lapsed.release(), false);
      assert.equal(await b.tryAcquire(aRequest({ keys })), undefined);
      await backend.hold(b, aRequest({ keys, permits }));
      assert.equal(await kept.release(), true);
    },
  ),

  'frees a shared key when the last ttl has passed': needing(['ttl'], async (backend, permits) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    await backend.hold(a, aRequest({ keys, permits, ttl: 50 }));
    const shortened = await backend.hold(b, aRequest({ keys, permits }));
    assert.equal(await shortened.extend(50), true);
    await backend.expire(100);
    await backend.hold(a, aRequest({ keys }));
  }),

  'keeps a shared key for as long as the longest ttl': needing(
    ['ttl'],
    async (backend, permits) => {
      const [a, b] = await backend.stores();
      const share = (keys: string[], ttl = 30_000) =>
        backend.hold(b, aRequest({ keys, permits, ttl }));
      const ways = {
        'comes last': (keys: string[]) => share(keys, 100),
        'is shortened': async (keys: string[]) => (await share(keys)).extend(100),
        'sees another one leave': async (keys: string[]) => {
          await share(keys, 100);
          await (await share(keys)).release();
        },
      };
      const stays = [];
      for (const [way, come] of Object.entries(ways)) {
        const keys = [aKey()];
        stays.push({ way, keys, lease: await backend.hold(a, aRequest({ keys, permits })) });
        await come(keys);
      }
      await backend.expire(150);
      for (const { way, keys, lease } of stays) {
        const alone = await b.tryAcquire(aRequest({ keys }));
        assert.equal(alone, undefined, `when the shorter one ${way}`);
        const seen = await b.inspect?.(keys[0]!);
        assert.equal(seen?.holders?.length ?? 1, 1, `when the shorter one ${way}`);
        assert.equal(await lease.release(), true);
        await backend.hold(b, aRequest({ keys }));
      }
    },
  ),

  'shares a key whose holder alone let its ttl pass': needing(['ttl'], async (backend, permits) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const lapsed = await backend.hold(a, aRequest({ keys, ttl: 50 }));
    await backend.expire(100);
    const lease = await backend.hold(b, aRequest({ keys, permits }));
    assert.equal(await lapsed.extend(30_000), false);
    assert.equal(await lapsed.release(), false);
    assert.equal(await lease.extend(30_000), true);
    assert.equal(await a.tryAcquire(aRequest({ keys })), undefined);
    await backend.hold(a, aRequest({ keys, permits }));
  }),
});
