import type { Redis } from 'ioredis';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { RedisLocks, aRequest } from '../locks.js';

describe('Scripts of RedisLockStore', () => {
  let server: RedisServer;
  let own: RedisLocks;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.shared();
    own = new RedisLocks(server.url);
    ({ redis } = own);
  });

  beforeEach(() => redis.flushall());

  afterAll(async () => {
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  const take = async (request: Parameters<typeof own.store.tryAcquire>[0]) =>
    (await own.store.tryAcquire(request))!;

  describe('a request that is made again', () => {
    it('has the lock, with its whole ttl', async () => {
      const request = aRequest(['a', 'b']);
      await take(request);
      for (const key of ['lock:a', 'lock:b']) await redis.pexpire(key, 1_000);
      await take(request);
      for (const key of ['lock:a', 'lock:b']) {
        expect(await redis.pttl(key)).toBeGreaterThan(20_000);
        expect(await redis.pttl(key)).toBeLessThanOrEqual(30_000);
      }
    });

    it('is refused where one of its keys has gone to another holder', async () => {
      const request = aRequest(['a', 'b', 'c']);
      await take(request);
      await redis.set('lock:b', 'their-token');
      expect(await own.store.tryAcquire(request)).toBeUndefined();
      expect(await redis.get('lock:b')).toBe('their-token');
    });
  });

  it.each([
    ['a', ['a', 'b']],
    ['b', ['a', 'b']],
    ['a', ['a', 'b', 'c']],
    ['b', ['a', 'b', 'c']],
    ['c', ['a', 'b', 'c']],
  ])('where %s is held, take none of %p', async (held, keys) => {
    await redis.set(`lock:${held}`, 'their-token');
    expect(await own.store.tryAcquire(aRequest(keys))).toBeUndefined();
    expect(await redis.keys('*')).toEqual([`lock:${held}`]);
  });

  describe('an extension of several keys', () => {
    it('is one of each', async () => {
      const lease = await take(aRequest(['a', 'b', 'c']));
      expect(await lease.extend(60_000)).toBe(true);
      for (const key of ['a', 'b', 'c']) {
        expect(await redis.pttl(`lock:${key}`)).toBeGreaterThan(50_000);
        expect(await redis.pttl(`lock:${key}`)).toBeLessThanOrEqual(60_000);
      }
    });

    it.each(['a', 'b', 'c'])('is none where %s is lost', async (lost) => {
      const lease = await take(aRequest(['a', 'b', 'c']));
      await redis.del(`lock:${lost}`);
      expect(await lease.extend(60_000)).toBe(false);
      for (const key of ['a', 'b', 'c']) {
        expect(await redis.pttl(`lock:${key}`)).toBeLessThanOrEqual(30_000);
      }
    });
  });

  describe('a release', () => {
    it('that is made once more finds nothing', async () => {
      const request = aRequest(['a', 'b']);
      const [first, again] = [await take(request), await take(request)];
      expect(await first.release()).toBe(true);
      expect(await again.release()).toBe(false);
      expect(await redis.exists('lock:a', 'lock:b')).toBe(0);
    });

    it.each(['a', 'b', 'c'])('of three keys frees two where %s has expired', async (lost) => {
      const lease = await take(aRequest(['a', 'b', 'c']));
      await redis.del(`lock:${lost}`);
      expect(await lease.release()).toBe(false);
      expect(await redis.exists('lock:a', 'lock:b', 'lock:c')).toBe(0);
    });

    it.each(['a', 'b', 'c'])('of three keys frees two where %s is held by others', async (lost) => {
      const lease = await take(aRequest(['a', 'b', 'c']));
      await redis.set(`lock:${lost}`, 'their-token');
      expect(await lease.release()).toBe(false);
      expect(await redis.keys('lock:*')).toEqual([`lock:${lost}`]);
    });

    it('is false where nothing is left, not even a counter', async () => {
      const lease = await take(aRequest(['a', 'b']));
      await redis.flushall();
      expect(await lease.release()).toBe(false);
      expect(await redis.keys('*')).toEqual([]);
    });
  });

  it('begin to count at the clock of the server, in microseconds', async () => {
    const time = async () => {
      const [seconds, micros] = await redis.time();
      return BigInt(seconds!) * 1_000_000n + BigInt(micros!);
    };
    const before = await time();
    const { fencingToken } = await take(aRequest('a'));
    expect(fencingToken).toBeGreaterThanOrEqual(before);
    expect(fencingToken).toBeLessThanOrEqual(await time());
  });

  it('tell of a holder to the millisecond', async () => {
    await take(aRequest('a', 1_234));
    const { remaining } = (await own.store.inspect('a'))!;
    expect(remaining).toBeGreaterThan(300);
    expect(remaining).toBeLessThanOrEqual(1_234);
  });
});
