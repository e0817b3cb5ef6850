import assert from 'node:assert/strict';
import type { Lease, LockInspection, LockStore } from '../../../../core/contract/lock-store.js';
import { aKey, aRequest } from '../../backend.js';
import { needing } from '../../check.js';
import type { Check } from '../../check.js';

const PAGES = 10_000;
/** They mean something to a server, a pattern or a path. The longest is as long as a key may be. */
const HOSTILE = [
  '*', '?', '[ab]', '[^a]-', '\\', '\\*', '%', '_', "'", '"', '`', '/', '..', '\n', '\r\n\0\t', ' ', '$1', '{a}', '}{', '{}',
  '{a}:fence:b', ':line', 'é', 'e\u0301', '鍵', '🔒', '\u202e', '\uffff', '<img onerror=alert(1)>', 'x'.repeat(400),
]; // prettier-ignore

/** For stores that list what is held. */
export const listChecks: Record<string, Check> = {
  'lists what is held, and nothing that was given back': needing(['list'], async (backend) => {
    const [a, b] = await backend.stores();
    const all = aKey();
    assert.deepEqual(await keysOf(b, `${all}*`), []);
    const held = await backend.hold(a, aRequest({ keys: [`${all}:1`] }));
    await backend.hold(b, aRequest({ keys: [`${all}:2`] }));
    assert.deepEqual(await keysOf(b, `${all}*`), [`${all}:1`, `${all}:2`]);
    await held.release();
    assert.deepEqual(await keysOf(a, `${all}*`), [`${all}:2`]);
  }),

  'lists no key whose ttl has passed': needing(['list', 'ttl'], async (backend) => {
    const store = await backend.store();
    const all = aKey();
    await backend.hold(store, aRequest({ keys: [`${all}:1`], ttl: 50 }));
    await backend.hold(store, aRequest({ keys: [`${all}:2`] }));
    await backend.expire(60);
    assert.deepEqual(await keysOf(store, `${all}*`), [`${all}:2`]);
  }),

  'lists a key as inspect tells it': needing(['list', 'inspect'], async (backend) => {
    const store = await backend.store();
    const request = aRequest();
    await backend.hold(store, request);
    const [listed, ...others] = await locksOf(store, request.key);
    const seen = await store.inspect!(request.key);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [listed?.key, listed?.holder, listed?.waiters, listed?.waiterCount],
      [request.key, request.holder, seen?.waiters, seen?.waiterCount],
    );
    assert.equal(typeof listed?.heldFor, typeof seen?.heldFor);
    assert.equal(typeof listed?.remaining, typeof seen?.remaining);
    assert.equal(typeof listed?.fencingToken, typeof seen?.fencingToken);
  }),

  'lists all sharers of a key at once': needing(['list', 'readLocks'], async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    const requests = ['one:1:1', 'two:2:2'].map((holder) => ({
      ...aRequest({ keys, permits: Infinity }),
      holder,
    }));
    for (const request of requests) await backend.hold(a, request);
    const [listed, ...others] = await locksOf(b, keys[0]!);
    assert.deepEqual(others, []);
    assert.equal(listed?.permits, Infinity);
    assert.deepEqual(listed.holders?.toSorted(), ['one:1:1', 'two:2:2']);
  }),

  'lists in pages, and leaves out nothing that is held all the time': needing(
    ['list'],
    async (backend) => {
      const [a, b] = await backend.stores();
      const all = aKey();
      const kept = Array.from({ length: 25 }, (_, index) => `${all}:kept:${index}`).toSorted();
      for (const key of kept) await backend.hold(a, aRequest({ keys: [key] }));
      for (const limit of [1, 4, 25, 1_000]) {
        const found = new Set<string>();
        let passing: Lease | undefined;
        for await (const page of pages(b, `${all}*`, limit)) {
          for (const { key } of page) found.add(key);
          await passing?.release();
          passing = await backend.hold(a, aRequest({ keys: [`${all}:${found.size % 3}`] }));
        }
        await passing?.release();
        assert.deepEqual([...found].filter((key) => kept.includes(key)).toSorted(), kept);
      }
    },
  ),

  'lists the keys that a glob takes': needing(['list'], async (backend) => {
    const store = await backend.store();
    const all = aKey();
    const names = ['a', 'ab', 'a[b]', 'b'].map((name) => `${all}:${name}`);
    for (const key of names) await backend.hold(store, aRequest({ keys: [key] }));
    const [a, ab, ofBrackets, b] = names as [string, string, string, string];
    assert.deepEqual(await keysOf(store, a), [a]);
    assert.deepEqual(await keysOf(store, `${all}:?`), [a, b]);
    assert.deepEqual(await keysOf(store, `${all}:a*`), [a, ab, ofBrackets].toSorted());
    assert.deepEqual(await keysOf(store, `${all}:a[b]`), [ofBrackets]);
    assert.deepEqual(await keysOf(store, `*${all.slice(-20)}:*b`), [ab, b].toSorted());
    assert.deepEqual(await keysOf(store, `${all.slice(1)}*`), []);
  }),

  'lists odd keys as they are': needing(['list'], async (backend) => {
    const store = await backend.store();
    const all = aKey();
    const keys = HOSTILE.map((name) => `${all}${name}`).toSorted();
    for (const key of keys) await backend.hold(store, aRequest({ keys: [key] }));
    assert.deepEqual(await keysOf(store, `${all}*`), keys);
    for (const key of keys.filter((each) => !/[*?]/.test(each)))
      assert.deepEqual(await keysOf(store, key), [key]);
  }),

  'refuses a cursor that is none of its own': needing(['list'], async (backend) => {
    const store = await backend.store();
    for (const cursor of ['', '0', 'conformance', 'W10.AAAAAAAA']) {
      const asked = (async () => store.list!({ cursor, limit: 1 }))();
      await assert.rejects(asked, { name: 'TypeError', message: /cursor/ });
    }
  }),
};

async function* pages(
  store: LockStore,
  match: string,
  limit: number,
): AsyncGenerator<readonly LockInspection[]> {
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const answer = await store.list!({ match, limit, ...(cursor !== undefined && { cursor }) });
    assert.ok(answer.locks.length <= limit, `${answer.locks.length} locks in a page of ${limit}`);
    yield answer.locks;
    cursor = answer.cursor;
    if (cursor === undefined) return;
  }
  assert.fail('the list never came to an end');
}

/** By key: one may be listed twice. */
async function locksOf(store: LockStore, match: string): Promise<LockInspection[]> {
  const found = new Map<string, LockInspection>();
  for await (const page of pages(store, match, 10))
    for (const each of page) found.set(each.key, each);
  return [...found.values()];
}

async function keysOf(store: LockStore, match: string): Promise<string[]> {
  return (await locksOf(store, match)).map(({ key }) => key).toSorted();
}
