import { EXTEND_MANY } from '../../../../lib/stores/redis/lua/lease-scripts.js';
import { TAKE_AND_FREE, batchArgs } from '../../../../lib/stores/redis/lua/lock-script.js';
import { scriptClient } from '../script-client.js';

const TTL = 60_000;
const [MINE, OTHER] = ['s.1:host:1:2', 's.2:host:1:2'];

/** The names of some locks: the locks, their counters, their lines. */
const named = (...keys: string[]) =>
  ['lock', 'fence', 'line'].flatMap((what) => keys.map((key) => `${key}:${what}`));

describe('One call for several locks on Redis', () => {
  const client = scriptClient();
  const run = async (...call: Parameters<typeof client.run>) =>
    (await client.run(...call)) as unknown[];
  const holders = (...keys: string[]) => client.redis.mget(keys.map((key) => `${key}:lock`));
  const all = [...named('a', 'b'), ...named('c')];

  it('takes one of two keys and one of one key, each with its token', async () => {
    const args = [batchArgs(MINE, 2, { ttl: TTL }), batchArgs(OTHER, 1, { ttl: TTL, last: 7 })];
    const [first, second] = await run(TAKE_AND_FREE, all, ...args.flat());
    expect(await holders('a', 'b', 'c')).toEqual([MINE, MINE, OTHER]);
    expect(await client.redis.mget('a:fence', 'b:fence', 'c:fence')).toEqual([String(first), String(first), '7']); // prettier-ignore
    expect(second).toBe(7);
    for (const key of ['a', 'b', 'c'])
      expect(await client.redis.pttl(`${key}:lock`)).toBeGreaterThan(TTL / 2);
  });

  it('frees one of two keys and one of one key, also where their counters are lost', async () => {
    await client.redis.mset('a:lock', MINE, 'b:lock', MINE, 'c:lock', OTHER);
    const args = [batchArgs(MINE, 2, {}), batchArgs(OTHER, 1, {})];
    expect(await run(TAKE_AND_FREE, all, ...args.flat())).toEqual([1, 1]);
    expect(await holders('a', 'b', 'c')).toEqual([null, null, null]);
    expect(await run(TAKE_AND_FREE, all, ...args.flat())).toEqual([0, 0]);
  });

  it('extends those that are held, and tells of each other one', async () => {
    const locks = ['a:lock', 'b:lock', 'c:lock', 'd:lock'];
    const extend = () => run(EXTEND_MANY, locks, TTL, MINE, MINE, MINE, MINE);
    for (const lock of locks) await client.redis.set(lock, MINE, 'PX', 1_000_000);
    expect(await extend()).toBe(1);
    for (const lock of locks) expect(await client.redis.pttl(lock)).toBeLessThanOrEqual(TTL);
    await client.redis.set('a:lock', OTHER);
    await client.redis.del('b:lock', 'c:lock');
    await client.redis.rpush('c:lock', 'no lock');
    expect(await extend()).toEqual([
      [1, ''],
      [2, ''],
      [3, expect.stringMatching(/^WRONGTYPE/)],
    ]);
    expect(await client.redis.pttl('a:lock')).toBe(-1);
  });
});
