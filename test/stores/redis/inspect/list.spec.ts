import { Redis } from 'ioredis';
import { RedisLockStore } from 'nest-holdfast';
import type { LockInspection, LockStore, RedisLockStoreOptions } from 'nest-holdfast';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { aRequest } from '../locks.js';

const MANY = 10_000;

/** By key: one may be listed twice. */
async function listed(
  store: LockStore,
  { match, limit = 100 }: { match?: string; limit?: number } = {},
  eachPage: (locks: readonly LockInspection[]) => unknown = () => undefined,
): Promise<Map<string, LockInspection>> {
  const found = new Map<string, LockInspection>();
  let cursor: string | undefined;
  do {
    const page = await store.list!({ match, limit, cursor });
    expect(page.locks.length).toBeLessThanOrEqual(limit);
    for (const each of page.locks) found.set(each.key, each);
    await eachPage(page.locks);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}

describe('the list of RedisLockStore', () => {
  let server: RedisServer;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = new Redis(server.url);
    redis.on('error', () => {}); // a test starts the server again
  });

  beforeEach(() => redis.flushall());

  afterEach(() => jest.restoreAllMocks());

  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  const storeOf = (options?: RedisLockStoreOptions) => new RedisLockStore(redis, options);

  it('has the plain keys of other programs', async () => {
    await redis.set('lock:a', 'theirs', 'PX', 30_000, 'NX');
    await redis.set('lock:b', 'for ever');
    const found = await listed(storeOf());
    expect(found.get('a')).toEqual({
      key: 'a',
      remaining: expect.any(Number),
      waiters: [],
      waiterCount: 0,
    });
    expect(found.get('b')).toMatchObject({ remaining: Infinity });
    expect(found.size).toBe(2);
  });

  it.each(['', 'lock:', '{app}:', '{', 'a*b', '[ab]', 'a?', 'a\\', '}{'])(
    'has nothing but locks of the prefix %j',
    async (keyPrefix) => {
      const store = storeOf({ keyPrefix });
      const keys = ['a', 'fence', '{a}:fence', '{a}:%fence:x', '{a}:line:b', '%', '{', 'order:1'];
      await store.tryAcquire(aRequest('held'));
      const reader = { ...aRequest('shared'), permits: Infinity };
      await store.tryAcquire(reader);
      const waiting = new AbortController();
      const waits = store.acquire!(aRequest('held'), waiting.signal);
      for (const key of keys) await store.tryAcquire(aRequest(key));
      for (const other of ['axb:', 'aab', 'b:', 'lock', 'ac', 'ab:'])
        if (keyPrefix !== '') await redis.set(`${other}other`, 'x', 'PX', 30_000);
      const found = [...(await listed(store)).keys()].toSorted();
      expect(found).toEqual([...keys, 'held', 'shared'].toSorted());
      for (const key of keys)
        expect([...(await listed(store, { match: key })).keys()]).toEqual([key]);
      waiting.abort(new Error('enough'));
      await expect(waits).rejects.toThrow('enough');
      await store.close();
    },
  );

  it('tells 10,000 held locks in pages, by commands that are short', async () => {
    const writes = redis.pipeline();
    for (let index = 0; index < MANY; index++)
      writes.set(`lock:order:${index}`, `x.${index}:host:1:1`, 'PX', 600_000);
    for (let index = 0; index < MANY; index++) writes.set(`session:${index}`, 'x');
    await writes.exec();
    const scans = jest.spyOn(redis, 'scan');
    const scripts = jest.spyOn(redis, 'evalsha');
    let pages = 0;
    const found = await listed(storeOf(), { limit: 1_000 }, () => pages++);
    expect(found.size).toBe(MANY);
    expect(pages).toBeLessThan(40);
    const counts = scans.mock.calls.map((call) => Number((call as unknown[])[4]));
    expect(Math.max(...counts)).toBeLessThanOrEqual(500);
    const keys = scripts.mock.calls.map((call) => Number((call as unknown[])[1]));
    expect(Math.max(...keys)).toBeLessThanOrEqual(200);
    expect(found.get('order:7')).toMatchObject({ holder: 'host:1:1' });
  });

  it('leaves out no lock while thousands come and go', async () => {
    const kept = Array.from({ length: 500 }, (_, index) => `kept:${index}`);
    for (const key of kept) await redis.set(`lock:${key}`, 'x', 'PX', 600_000);
    let round = 0;
    const found = await listed(storeOf(), { limit: 50 }, async () => {
      const writes = redis.pipeline();
      for (let index = 0; index < 2_000; index++)
        if (round % 4 < 2) writes.set(`lock:passing:${round}:${index}`, 'x', 'PX', 600_000);
        else writes.del(`lock:passing:${round - 2}:${index}`);
      if (round++ < 12) await writes.exec(); // the server's table grows and shrinks
    });
    expect(kept.filter((key) => !found.has(key))).toEqual([]);
  });

  it('begins again on a server that was started again', async () => {
    const store = storeOf();
    const hold = async () => {
      for (let index = 0; index < 100; index++)
        await redis.set(`lock:${index}`, 'x', 'PX', 600_000);
    };
    await hold();
    const { cursor } = await store.list!({ limit: 40 });
    await server.restart();
    await hold();
    const found = new Set<string>();
    for (let next = cursor; next !== undefined;) {
      const page = await store.list!({ limit: 40, cursor: next });
      for (const { key } of page.locks) found.add(key);
      next = page.cursor;
    }
    expect(found.size).toBe(100);
  });

  it('refuses the cursor of another prefix', async () => {
    for (let index = 0; index < 3; index++) await redis.set(`lock:${index}`, 'x');
    const { cursor } = await storeOf().list!({ limit: 1 });
    expect(cursor).toBeDefined();
    await expect(storeOf({ keyPrefix: 'jobs:' }).list!({ limit: 1, cursor })).rejects.toThrow(
      expect.objectContaining({ code: 'LOCK_OPTION_INVALID' }),
    );
  });
});
