import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast/core';
import { clusterSlot } from '../../../../lib/redis-client/cluster-slot';
import { BESIDE, BESIDE_SHARED, ServerKeys } from '../../../../lib/stores/redis/keys/server-keys';
import { seeded } from '../../../support/histories/history-random';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { disconnect } from '../locks';

const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 32);
const PREFIXES = ['', '{', '{locks}:', '{a}', '{a}:%', 'lock:', 'lock:{t}:', '%'];
const CLIENT_PREFIXES = ['', 'app:', '{app}:', '{'];

/** A lock and everything beside it. */
function all(names: ServerKeys, key: string): readonly string[] {
  return [...new Set([...names.with(BESIDE, [key]), ...names.with(BESIDE_SHARED, [key])])];
}

describe('no lock has the name of what stands beside another lock', () => {
  const PARTS = [
    '{',
    '}',
    'a',
    'b',
    ':',
    '%',
    'fence',
    'line',
    'queue',
    'shared',
    'guard',
    '{a}:',
    ':fence',
    '\n',
  ];
  const random = seeded(SEED);
  const oneOf = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!;
  const someKey = () =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, () => oneOf(PARTS)).join('');

  it.each(PREFIXES)(`with the prefix %j (seed ${SEED})`, (prefix) => {
    for (let pair = 0; pair < 5_000; pair++) {
      const clientPrefix = oneOf(CLIENT_PREFIXES);
      const names = new ServerKeys(prefix, clientPrefix, false);
      const first = someKey();
      // Half of the time the name of something beside the first lock, as a key.
      const beside = oneOf(all(names, first));
      const second =
        random() < 0.5 && beside.startsWith(prefix) ? beside.slice(prefix.length) : someKey();
      if (second === first || second === '') continue;
      const both = new Set([...all(names, first), ...all(names, second)]);
      expect({ first, second, names: both.size }).toEqual({ first, second, names: 8 });
    }
  });

  it('a name that is escaped stays in its slot, and others are as they were', () => {
    const names = new ServerKeys('', '', false);
    expect(names.locks(['{a}:fence', '{a}:%line:x', '{a}:fences', '{}:fence', 'a:fence'])).toEqual([
      '{a}:%fence',
      '{a}:%%line:x',
      '{a}:fences',
      '{}:fence',
      'a:fence',
    ]);
    expect(clusterSlot('{a}:%fence')).toBe(clusterSlot('a'));
    expect(new ServerKeys('lock:', '', false).locks(['{a}:fence'])).toEqual(['lock:{a}:fence']);
  });
});

describe('a user whose key looks like a name of ours', () => {
  let server: RedisServer;
  let clients: readonly [Redis, Redis];

  beforeAll(async () => {
    server = await RedisServer.shared();
    clients = [new Redis(server.url), new Redis(server.url)];
  });
  afterAll(async () => {
    clients.forEach(disconnect);
    await server.stop();
  });

  it.each([
    ['', '{a}:fence', 'a'],
    ['', '{a}:line', 'a'],
    ['', '{a}:queue', 'a'],
    ['', '{a}:shared', 'a'],
    ['{locks}:', 'fence:{locks}:a', 'a'],
    ['{locks}:', 'line:{locks}:a', 'a'],
    ['lock:', '{lock:a}:fence', 'a'],
  ])(
    'with the prefix %j and the key %s harms no caller that locks %s',
    async (keyPrefix, evil, key) => {
      const [one, other] = clients.map(
        (client) => new LockService(new RedisLockStore(client, { keyPrefix })),
      ) as [LockService, LockService];
      const odd = await one.acquire(evil);
      expect(await other.inspect(evil)).toMatchObject({ fencingToken: odd.fencingToken });

      const first = await one.acquire(key);
      const next = other
        .acquire(key)
        .then(async (lock) => [lock.fencingToken, await lock.release()]);
      const reader = await one.acquire(`${key}${evil}`, { mode: 'read' });
      const writer = other.acquire(`${key}${evil}`).then((lock) => lock.release());
      const token = first.fencingToken;
      expect([await first.release(), await reader.release(), await writer]).toEqual([
        true,
        true,
        true,
      ]);
      const [nextToken, isReleased] = await next;
      expect(isReleased).toBe(true);
      expect(nextToken).toBeGreaterThan(token);

      const queued = other.acquire(evil).then((lock) => lock.release());
      expect([await odd.release(), await queued]).toEqual([true, true]);
      await Promise.all([one.close(), other.close()]);
    },
  );
});
