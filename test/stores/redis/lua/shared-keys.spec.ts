import {
  ACQUIRE_SHARED,
  CONFIRM_SHARED,
  DOWNGRADE,
  EXTEND_LOCK_OF_SHARERS,
  EXTEND_SHARED,
  EXTEND_SHARER,
  RELEASE_SHARED,
} from '../../../../lib/stores/redis/lua/sharing-scripts.js';
import { WAIT } from '../../../../lib/stores/redis/lua/queue-scripts.js';
import { scriptClient } from '../script-client.js';

const [A, B] = ['lock:a', 'lock:b'];
const LOCKS = [A, B] as const;
const lines = LOCKS.map((lock) => `{${lock}}:line`);
const sharers = LOCKS.map((lock) => `{${lock}}:shared`);
const ALL = [...LOCKS, ...lines, ...sharers];
const VALUE = 'own*2.1:host:1:2';
const OTHER = 'other*2.1:host:1:2';
const ALONE = 'own.1:host:1:2';

describe('Two keys that are shared on Redis', () => {
  const client = scriptClient();
  const share = (value: string, ttl = 60_000) => client.run(ACQUIRE_SHARED, ALL, value, ttl);

  /** Who shares each key, and for how many seconds, to the nearest ten. */
  async function seen() {
    const at = await client.now();
    const found = [];
    for (const [index, lock] of LOCKS.entries()) {
      const list = await client.redis.zrange(sharers[index]!, '0', '-1', 'WITHSCORES');
      const ends = (value: string) => Number(list[list.indexOf(value) + 1]);
      const members = list.filter((_, place) => place % 2 === 0).toSorted();
      const seconds = (ms: number) => Math.round(ms / 10_000) * 10;
      const ttls = [await client.redis.pttl(lock), await client.redis.pttl(sharers[index]!)];
      found.push({
        lock: await client.redis.get(lock),
        of: members.map((value) => [value, seconds(ends(value) - at)]),
        ttls: ttls.map(seconds),
      });
    }
    return found;
  }

  it('are taken together, and each has its sharer', async () => {
    expect(await share(VALUE)).toBe(1);
    expect(await seen()).toEqual(LOCKS.map(() => ({ lock: '*2', of: [[VALUE, 60]], ttls: [60, 60] }))); // prettier-ignore
    expect(await share(OTHER, 90_000)).toBe(1);
    expect(await seen()).toEqual(
      LOCKS.map(() => ({ lock: '*2', of: [[OTHER, 90], [VALUE, 60]], ttls: [90, 90] })), // prettier-ignore
    );
    expect(await share('third*2.1:host:1:2')).toBe(-1);
  });

  it('are refused while a writer waits for one of them, and not once it is gone', async () => {
    await share(VALUE);
    const wait = [60_000, '~t.1:host:1:2', '60000'];
    await client.run(WAIT, [A, lines[0]!, sharers[0]!], ...wait);
    expect(await share(OTHER)).toBe(-1);
    await client.redis.del(lines[0]!);
    expect(await share(OTHER)).toBe(1);
    await client.redis.flushall();
    await client.redis.set(A, 'foreign', 'PX', 60_000);
    await client.run(WAIT, [A, lines[0]!, sharers[0]!], ...wait);
    expect(await share(OTHER)).toBe(-1);
  });

  it('have room again for each sharer whose time is over', async () => {
    await share(VALUE);
    await share(OTHER);
    for (const set of sharers) await client.redis.zadd(set, (await client.now()) - 1_000, VALUE);
    expect(await share('third*2.1:host:1:2')).toBe(1);
    expect(await share('fourth*2.1:host:1:2')).toBe(-1);
  });

  it('are refused together, by the number of the one that is not free', async () => {
    await client.redis.set(B, 'foreign');
    expect(await share(VALUE)).toBe(-2);
    expect(await seen()).toMatchObject([
      { lock: null, of: [] },
      { lock: 'foreign', of: [] },
    ]);
  });

  it.each([
    ['confirmed', CONFIRM_SHARED, ALL],
    ['extended', EXTEND_SHARED, [...LOCKS, ...sharers]],
  ])('are %s together, and not where one is gone', async (_, script, keys) => {
    await share(VALUE);
    await share(OTHER);
    expect(await client.run(script, keys, 200_000, 2, VALUE)).toEqual([1]);
    const both = [[OTHER, 60], [VALUE, 200]]; // prettier-ignore
    expect(await seen()).toEqual(
      LOCKS.map(() => ({ lock: '*2', of: both, ttls: [expect.any(Number), expect.any(Number)] })),
    );
    await client.redis.zrem(sharers[1]!, VALUE);
    expect(await client.run(script, keys, 300_000, 2, VALUE)).toEqual([0]);
    expect(await seen()).toMatchObject([{ of: both }, { of: [[OTHER, 60]] }]);
  });

  it('of several leases are extended by one call, each for itself', async () => {
    await share(VALUE);
    await share(OTHER);
    const keys = [A, sharers[0]!, B, sharers[1]!, A, sharers[0]!];
    const leases = [1, VALUE, 1, OTHER, 1, 'gone*2.1:host:1:2'];
    expect(await client.run(EXTEND_SHARED, keys, 200_000, ...leases)).toEqual([1, 1, 0]);
    expect(await seen()).toEqual([
      { lock: '*2', of: [[OTHER, 60], [VALUE, 200]], ttls: [200, 200] }, // prettier-ignore
      { lock: '*2', of: [[OTHER, 200], [VALUE, 60]], ttls: [200, 200] }, // prettier-ignore
    ]);
  });

  it('of several leases are extended by one call, also where the first has two keys', async () => {
    await share(VALUE);
    await share(OTHER);
    const keys = [...LOCKS, ...sharers, B, sharers[1]!];
    expect(await client.run(EXTEND_SHARED, keys, 200_000, 2, VALUE, 1, OTHER)).toEqual([1, 1]);
    expect(await seen()).toMatchObject([
      { of: [[OTHER, 60], [VALUE, 200]] }, // prettier-ignore
      { of: [[OTHER, 200], [VALUE, 200]] }, // prettier-ignore
    ]);
  });

  it('are released together, and free with the last sharer', async () => {
    await share(VALUE);
    await share(OTHER);
    expect(await client.run(RELEASE_SHARED, ALL, VALUE)).toBe(1);
    expect(await seen()).toMatchObject(LOCKS.map(() => ({ lock: '*2', of: [[OTHER, 60]] })));
    expect(await client.run(RELEASE_SHARED, ALL, VALUE)).toBe(0);
    expect(await client.run(RELEASE_SHARED, ALL, OTHER)).toBe(1);
    expect(await client.redis.keys('*')).toEqual([]);
  });

  it('become shared together, for the rest of their ttl, and not where one is gone', async () => {
    const reader = 'own*inf.1:host:1:2';
    await client.redis.set(A, ALONE, 'PX', 70_000);
    expect(await client.run(DOWNGRADE, ALL, ALONE, reader)).toBe(0);
    expect(await seen()).toMatchObject([
      { lock: ALONE, of: [] },
      { lock: null, of: [] },
    ]);
    await client.redis.set(B, 'foreign', 'PX', 70_000);
    expect(await client.run(DOWNGRADE, ALL, ALONE, reader)).toBe(0);
    await client.redis.set(B, ALONE, 'PX', 70_000);
    for (const _ of ['first', 'again']) {
      expect(await client.run(DOWNGRADE, ALL, ALONE, reader)).toBe(1);
      expect(await seen()).toEqual(
        LOCKS.map(() => ({ lock: '*inf', of: [[reader, 70]], ttls: [70, 70] })),
      );
    }
  });

  describe('are extended by halves on a Cluster:', () => {
    beforeEach(() => share(VALUE));

    it('a sharer by its set', async () => {
      expect(await client.run(EXTEND_SHARER, [sharers[0]!], VALUE, 200_000)).toBe(1);
      expect(await seen()).toMatchObject([{ of: [[VALUE, 200]], ttls: [60, 200] }, { of: [[VALUE, 60]] }]); // prettier-ignore
    });

    it('none that is not in the set, or whose time is over', async () => {
      expect(await client.run(EXTEND_SHARER, [sharers[0]!], OTHER, 200_000)).toBe(0);
      await client.redis.zadd(sharers[0]!, (await client.now()) - 1_000, VALUE);
      expect(await client.run(EXTEND_SHARER, [sharers[0]!], VALUE, 200_000)).toBe(0);
    });

    it('none whose time would end earlier', async () => {
      expect(await client.run(EXTEND_SHARER, [sharers[0]!], VALUE, 30_000)).toBeNull();
      expect(await seen()).toMatchObject([{ of: [[VALUE, 60]], ttls: [60, 60] }, {}]);
    });

    it('the lock, where it has the same permits, and never to an earlier end', async () => {
      expect(await client.run(EXTEND_LOCK_OF_SHARERS, [A], VALUE, 200_000)).toBe(1);
      expect(await client.redis.pttl(A)).toBeGreaterThan(190_000);
      expect(await client.run(EXTEND_LOCK_OF_SHARERS, [A], VALUE, 30_000)).toBe(1);
      expect(await client.redis.pttl(A)).toBeGreaterThan(190_000);
      await client.redis.set(A, '*3', 'PX', 60_000);
      expect(await client.run(EXTEND_LOCK_OF_SHARERS, [A], VALUE, 200_000)).toBe(0);
      expect(await client.redis.pttl(A)).toBeLessThan(100_000);
    });
  });
});
