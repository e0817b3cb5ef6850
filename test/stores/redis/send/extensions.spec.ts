import { EXTEND } from '../../../../lib/stores/redis/lua/lease-scripts.js';
import { EXTEND_LOCK_OF_SHARERS, EXTEND_SHARED, EXTEND_SHARER } from '../../../../lib/stores/redis/lua/sharing-scripts.js'; // prettier-ignore
import { extendMany } from '../../../../lib/stores/redis/lease/extend-many.js';
import type { Lease } from '../../../../lib/core/contract/lock-store.js';
import { RedisLease } from '../../../../lib/stores/redis/lease/redis-lease.js';
import type { LeaseContext } from '../../../../lib/stores/redis/lease/lease-context.js';
import { storeExtensions } from '../../../../lib/stores/redis/send/store-extensions.js';
import type { ScriptRunner } from '../../../../lib/stores/redis/send/script-runner.js';
import type { RedisScript } from '../../../../lib/redis-client/redis-script.js';
import { rejectionOf } from '../../../core/support/outcome.js';
import { aRequest } from '../locks.js';

const TTL = 5_000;
const FORBIDDEN = new Error('NOPERM No permissions to access a key');

function held(name: string, keys: readonly string[] = [name]) {
  const beside = ['lock', 'line', 'shared'].flatMap((what) => keys.map((key) => `${key}:${what}`));
  return { request: aRequest([...keys]), keys: beside, value: name };
}

describe('What a store extends', () => {
  let calls: { script: RedisScript; keys: readonly string[]; args: readonly unknown[] }[];
  let replies: unknown[];
  let runner: ScriptRunner;

  beforeEach(() => {
    [calls, replies] = [[], []];
    const change = async (
      script: RedisScript,
      keys: string[],
      args: unknown[],
      read: (reply: unknown) => unknown,
    ) => {
      calls.push({ script, keys, args });
      const reply = replies.shift();
      if (reply instanceof Error) throw reply;
      return read(reply);
    };
    runner = { change } as unknown as ScriptRunner;
  });

  describe('in one turn', () => {
    it('leaves by its ttl, each lease with its keys and its value', async () => {
      const { extensions } = storeExtensions(runner, true);
      replies = [[1, 0], [1]];
      const all = [extensions.extend(held('1', ['a', 'b']), TTL), extensions.extend(held('2'), TTL), extensions.extend(held('3'), 2 * TTL)]; // prettier-ignore
      expect(await Promise.all(all)).toEqual([true, false, true]);
      expect(calls).toEqual([
        { script: EXTEND, keys: ['a:lock', 'b:lock', '2:lock'], args: [TTL, 2, '1', 1, '2'] },
        { script: EXTEND, keys: ['3:lock'], args: [2 * TTL, 1, '3'] },
      ]);
    });

    it('leaves each by itself on a Cluster', async () => {
      const { extensions } = storeExtensions(runner, false);
      replies = [[1], [1]];
      await Promise.all([extensions.extend(held('1'), TTL), extensions.extend(held('2'), TTL)]);
      expect(calls.map(({ keys }) => keys)).toEqual([['1:lock'], ['2:lock']]);
    });

    it('fails alone with an error of its own', async () => {
      const { sharedExtensions } = storeExtensions(runner, true);
      replies = [['WRONGTYPE', 1]];
      const [first, second] = [sharedExtensions.extend(held('1'), TTL), sharedExtensions.extend(held('2'), TTL)]; // prettier-ignore
      expect(await rejectionOf(first)).toMatchObject({ message: 'WRONGTYPE' });
      expect(await second).toBe(true);
      expect(calls[0]).toMatchObject({ script: EXTEND_SHARED, keys: ['1:lock', '1:shared', '2:lock', '2:shared'] }); // prettier-ignore
    });

    it('is done for each alone, where the server forbids one key', async () => {
      const { sharedConfirmations } = storeExtensions(runner, true);
      replies = [FORBIDDEN, FORBIDDEN, [1]];
      const [first, second] = [sharedConfirmations.extend(held('1'), TTL), sharedConfirmations.extend(held('2'), TTL)]; // prettier-ignore
      expect(await rejectionOf(first)).toBe(FORBIDDEN);
      expect(await second).toBe(true);
      expect(calls.map(({ keys }) => keys.length)).toEqual([6, 3, 3]);
    });

    it.each([[new Error('LOADING')], [[1]], ['OK']])('fails together with %p', async (reply) => {
      const { extensions } = storeExtensions(runner, true);
      replies = [reply];
      const all = [extensions.extend(held('1'), TTL), extensions.extend(held('2'), TTL)];
      for (const each of all) expect(await rejectionOf(each)).toBeInstanceOf(Error);
      expect(calls).toHaveLength(1);
    });
  });

  describe('of a sharer on a Cluster', () => {
    const extend = (...answers: unknown[]) => {
      replies = answers;
      return storeExtensions(runner, false).sharedExtensions.extend(held('s', ['a']), TTL);
    };

    it('leaves to its set, and then to the lock', async () => {
      expect([await extend(1, 1), await extend(1, 0)]).toEqual([true, false]);
      expect(calls.slice(0, 2)).toEqual([
        { script: EXTEND_SHARER, keys: ['a:shared'], args: ['s', TTL] },
        { script: EXTEND_LOCK_OF_SHARERS, keys: ['a:lock'], args: ['s', TTL] },
      ]);
    });

    it('ends with its set where it is not there', async () => {
      expect(await extend(0)).toBe(false);
      expect(calls).toHaveLength(1);
    });

    it('leaves to both at once where its ttl would be shorter', async () => {
      expect(await extend(null, [1])).toBe(true);
      expect(calls[1]).toMatchObject({ script: EXTEND_SHARED });
    });
  });

  describe('of many leases', () => {
    const lease = (name: string) => new RedisLease(held(name), {} as LeaseContext, 1n);
    const other = (extend: () => Promise<boolean>) => ({ extend }) as unknown as Lease;

    it('leaves in one call, beside those that are extended by themselves', async () => {
      replies = [1];
      const found = await extendMany(
        runner,
        [lease('1'), other(async () => true), lease('2')],
        TTL,
      );
      expect(found).toEqual(new Map());
      expect(calls.map(({ keys, args }) => [keys, args])).toEqual([[['1:lock', '2:lock'], [TTL, '1', '2']]]); // prettier-ignore
    });

    it('tells which are lost, and why', async () => {
      const all = [lease('1'), lease('2'), lease('3'), other(async () => false), other(() => Promise.reject(new Error('down')))]; // prettier-ignore
      replies = [
        [
          [2, ''],
          ['3', 'WRONGTYPE'],
        ],
      ];
      const found = await extendMany(runner, all, TTL);
      expect([...found.keys()]).toEqual(expect.arrayContaining(all.slice(1)));
      expect(all.map((each) => found.get(each)).slice(0, 4)).toEqual([undefined, false, new Error('WRONGTYPE'), false]); // prettier-ignore
      expect(found.get(all[4]!)).toMatchObject({ message: 'down' });
    });

    it.each([[[[4, '']]], [[[0, '']]], [[[1]]], [[[1, 2]]], [0], ['OK']])(
      'fails where the server answers %j',
      async (reply) => {
        const all = [lease('1'), lease('2'), lease('3')];
        replies = [reply];
        const found = await extendMany(runner, all, TTL);
        expect([...found.values()].map(String)).toEqual(all.map(() => expect.stringContaining('not understood'))); // prettier-ignore
      },
    );

    it('leaves in calls of a hundred', async () => {
      const all = Array.from({ length: 200 }, (_, index) => lease(String(index)));
      replies = [1, 1];
      await extendMany(runner, all, TTL);
      expect(calls.map(({ keys }) => keys.length)).toEqual([100, 100]);
    });
  });
});
