import type { Redis } from 'ioredis';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { RedisLocks, markOf } from '../locks.js';

const COUNTER = markOf('order:42');
const HOUR = 3_600;

describe('Fencing tokens of RedisLockStore', () => {
  let server: RedisServer;
  let own: RedisLocks;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    own = new RedisLocks(server.url);
    ({ redis } = own);
  });

  beforeEach(() => redis.flushall());

  afterAll(async () => {
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  const grant = () => own.locks.withLock('order:42', async (lock) => lock.fencingToken);

  /** Microseconds since 1970 by the server's clock. */
  async function serverTime(): Promise<bigint> {
    const [seconds, micros] = (await server.command('TIME')) as [string, string];
    return BigInt(seconds) * 1_000_000n + BigInt(micros);
  }

  it('grow after the counter was lost: the clock of the server is their floor', async () => {
    const before = await serverTime();
    const first = await grant();
    expect(first).toBeGreaterThanOrEqual(before);
    await redis.flushall();
    expect(await grant()).toBeGreaterThan(first);
    await server.restart();
    expect(await grant()).toBeGreaterThan(first);
  });

  it('grow by one where the clock of the server went back', async () => {
    const ahead = (await serverTime()) + 3_600_000_000n;
    await redis.set(COUNTER, `${ahead} gone:host:1:1 r`, 'EX', HOUR);
    expect(await grant()).toBe(ahead + 1n);
    expect(await grant()).toBe(ahead + 2n);
  });

  it('are minted in the acquiring command, so no stale holder gets the higher one', async () => {
    const tokens = await Promise.all(
      Array.from({ length: 20 }, () => own.locks.withLock('order:42', { retryDelay: 5, retryJitter: 5 }, async (lock) => lock.fencingToken)), // prettier-ignore
    );
    expect(new Set(tokens).size).toBe(20);
    expect(tokens).toEqual(tokens.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(BigInt((await redis.get(COUNTER))!)).toBeGreaterThanOrEqual(tokens.at(-1)!);
  });

  it('leave nothing after a release but counters that expire', async () => {
    for (const key of ['a', 'b', 'c', ['d', 'e']]) await own.locks.withLock(key, async () => {});
    const left = await redis.keys('*');
    expect(left.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'].map(markOf).toSorted());
    for (const key of left) {
      const ttl = await redis.ttl(key);
      expect(ttl).toBeGreaterThan(HOUR - 60);
      expect(ttl).toBeLessThanOrEqual(HOUR);
    }
  });

  it('grow also where a lock was held longer than its counter lived', async () => {
    const lock = await own.locks.acquire('order:42');
    await redis.del(COUNTER);
    await lock.extend(30_000);
    await lock.release();
    expect(await grant()).toBeGreaterThan(lock.fencingToken);
  });

  it('leave no counter without an expiry where the counter was lost during the hold', async () => {
    const lock = await own.locks.acquire('order:42');
    await redis.del(COUNTER);
    expect(await lock.release()).toBe(true);
    expect(await redis.keys('*')).toEqual([]);
  });

  it('stay exact numbers: below 2^53, and not rounded by Lua', async () => {
    const last = 9_007_199_254_740_000n;
    await redis.set(COUNTER, `${last} gone:host:1:1`, 'EX', HOUR);
    expect(await grant()).toBe(last + 1n);
    expect(await redis.get(COUNTER)).toBe('9007199254740001');
    expect(await serverTime()).toBeLessThan(2n ** 53n);
  });

  it('are one for all keys of a lock, larger than the last of each', async () => {
    const ahead = (await serverTime()) + 3_600_000_000n;
    await redis.set(COUNTER, `${ahead} gone:host:1:1`, 'EX', HOUR);
    const both = await own.locks.withLock(['customer:7', 'order:42'], async (lock) => lock.fencingToken); // prettier-ignore
    expect(both).toBe(ahead + 1n);
    const next = await own.locks.withLock('customer:7', async (lock) => lock.fencingToken);
    expect(next).toBe(ahead + 2n);
  });

  it('and validity do not follow the wall clock of the client', async () => {
    const before = await grant();
    const lock = await own.locks.acquire('order:42', { ttl: 20_000 });
    const wallClock = jest.spyOn(Date, 'now').mockReturnValue(0);
    try {
      expect(lock.isHeld).toBe(true);
      expect(lock.remaining).toBeGreaterThan(10_000);
      await lock.extend(20_000);
      expect(await lock.release()).toBe(true);
      expect(await grant()).toBeGreaterThan(before);
    } finally {
      wallClock.mockRestore();
    }
  });
});
