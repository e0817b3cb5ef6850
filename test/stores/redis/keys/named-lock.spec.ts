import {
  LockNames,
  holderOf,
  otherPermits,
  ownerOf,
  permitsFrom,
} from '../../../../lib/stores/redis/keys/named-lock.js';
import { BESIDE, ServerKeys } from '../../../../lib/stores/redis/keys/server-keys.js';
import { featuresOf } from '../../../../lib/stores/redis/redis-features.js';
import type { RedisClient } from '../../../../lib/redis-client/redis-client.js';
import { aRequest } from '../locks.js';

const request = { ...aRequest(['a', 'b']), token: 'tok' };

describe('The names of a lease', () => {
  const names = new LockNames(new ServerKeys('lock:', '', false), 'own');
  const beside = (what: string) => ['a', 'b'].map((key) => `{lock:${key}}:${what}`);
  const locks = ['lock:a', 'lock:b'];

  it('are those of its keys, and its value', () => {
    expect(names.exclusive(request)).toEqual({ request, value: 'own.tok:test:1:2', keys: [...locks, ...beside('fence'), ...beside('line')] }); // prettier-ignore
    expect(names.shared(request, 3)).toEqual({ request, value: 'own*3.tok:test:1:2', keys: [...locks, ...beside('line'), ...beside('shared')] }); // prettier-ignore
    expect(names.shared(request, Infinity).value).toBe('own*inf.tok:test:1:2');
    expect(names.exclusive({ ...request, holder: undefined }).value).toBe('own.tok:');
    expect(names.shared({ ...request, holder: undefined }, 1).value).toBe('own*1.tok:');
  });

  it('of a waiter are those of sharers, with its own value', () => {
    const queued = names.queued(request);
    expect(queued).toEqual({ ...names.exclusive(request), keys: names.shared(request, 1).keys });
    expect(names.queued({ ...request, permits: 2 })).toEqual({ ...names.shared(request, 2), request: { ...request, permits: 2 } }); // prettier-ignore
  });

  it('share a counter with other locks on one server, from the first to the last mark', () => {
    const keys = new ServerKeys('lock:', '', true);
    const wanted = new Set(['{lock:mark:0}:fence', '{lock:mark:1023}:fence']);
    for (let index = 0; index < 50_000 && wanted.size > 0; index++) {
      const mark = keys.with(BESIDE, [`k${index}`])[1]!;
      if (index < 100) expect(mark).toMatch(/^\{lock:mark:\d+\}:fence$/);
      wanted.delete(mark);
    }
    expect(wanted.size).toBe(0);
  });
});

it.each([
  ['s.1:host:1:2', 'host:1:2', '1'],
  ['~s-x.1!17:host:1:2', 'host:1:2', '1'],
  ['s.1:', '', '1'],
  ['s*2.1:host:1:2', 'host:1:2', undefined],
  ['s.1', '', undefined],
  ['theirs', '', undefined],
  ['.1:host', 'host', undefined],
])('The value %s has the holder "%s" and the owner %s', (value, holder, owner) => {
  expect([holderOf(value), ownerOf(value)]).toEqual([holder, owner]);
});

it('Permits are a number from 1 on, or those of readers', () => {
  expect(['inf', '3', 1].map(permitsFrom)).toEqual([Infinity, 3, 1]);
  for (const text of ['0', -1, 'x', null])
    expect(() => permitsFrom(text)).toThrow('not understood');
});

it('A refusal by other permits names the key and both', () => {
  expect(otherPermits(request, 2, [2, '3'])).toMatchObject({ key: 'b', message: expect.stringMatching(/2.*3|3.*2/s) }); // prettier-ignore
  for (const reply of [[3, '3'], [0, '3'], [1], [1, '0']])
    expect(() => otherPermits(request, 2, reply)).toThrow('not understood');
});

it.each([
  ['one server', {}, 8, { manyKeys: true, semaphores: true }],
  [
    'one server, in strict order',
    {},
    0,
    { manyKeys: true, queuesAllCallers: true, semaphores: true },
  ],
  ['a Cluster', { isCluster: true }, 8, { manyKeys: false, semaphores: true }],
  [
    'a client that cannot subscribe',
    { subscribe: undefined },
    0,
    { manyKeys: true, semaphores: 'polled' },
  ],
])('The features on %s', (_, client, limit, features) => {
  const all = { subscribe: () => {}, duplicate: () => {}, ...client };
  const common = { fencing: true, ttl: true, queuesManyKeys: true, readLocks: true };
  expect(featuresOf(all as unknown as RedisClient, limit)).toEqual({ ...common, ...features });
});
