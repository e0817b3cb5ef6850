import { hostname } from 'node:os';
import type { Redis } from 'ioredis';
import Redlock from 'redlock';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { standing } from '../support/app-instance.js';
import { OwnClient, RedisLocks, aRequest, markOf } from './locks.js';

const COMPARE_AND_DELETE = `
if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`;

describe('RedisLockStore beside other holders of the same key', () => {
  let server: RedisServer;
  let own: RedisLocks;
  let foreign: OwnClient;
  let redis: Redis;

  beforeAll(async () => {
    server = await RedisServer.shared();
    own = new RedisLocks(server.url);
    foreign = new OwnClient(server.url);
    redis = foreign.redis;
  });

  beforeEach(() => redis.flushall());

  afterAll(async () => {
    await own[Symbol.asyncDispose]();
    await foreign[Symbol.asyncDispose]();
    await server.stop();
  });

  it('keeps order:42 at lock:order:42, as <store>.<token>:<host>:<pid>:<startTime>, with a ttl', async () => {
    await own.locks.withLock('order:42', { ttl: 20_000 }, async () => {
      expect(await redis.type('lock:order:42')).toBe('string');
      const [token, ...holder] = (await redis.get('lock:order:42'))!.split(':');
      expect(token).toMatch(/^[\w-]{11}\.[0-9a-f]{32}-[0-9a-z]+$/);
      expect(holder).toEqual([hostname(), `${process.pid}`, expect.stringMatching(/^\d{13}$/)]);
      const pttl = await redis.pttl('lock:order:42');
      expect(pttl).toBeGreaterThan(10_000);
      expect(pttl).toBeLessThanOrEqual(20_000);
    });
    expect(await redis.exists('lock:order:42')).toBe(0);
  });

  it('is excluded by a plain SET NX PX, until that holder frees the key', async () => {
    await redis.set('lock:order:42', 'their-token', 'PX', 30_000, 'NX');
    expect(await own.locks.tryAcquire('order:42')).toBeUndefined();
    expect(await redis.get('lock:order:42')).toBe('their-token');

    expect(await redis.eval(COMPARE_AND_DELETE, 1, 'lock:order:42', 'their-token')).toBe(1);
    const lock = await own.locks.acquire('order:42', { waitTimeout: 0 });
    expect(await lock.release()).toBe(true);
  });

  it.each([
    ['frees the key', () => redis.del('lock:order:42')],
    ['lets it expire', () => redis.pexpire('lock:order:42', 20)],
  ])(
    'follows a plain SET NX PX that %s in the order of arrival, beside callers that loop',
    async (_, end) => {
      await using other = new RedisLocks(server.url);
      await redis.set('lock:order:42', 'their-token', 'PX', 30_000, 'NX');
      const first = other.locks.acquire('order:42');
      await standing(server, 'order:42', 1);
      const both = other.locks.acquire(['order:42', 'order:43']);
      const over = new AbortController();
      const order: string[] = [];
      const loop = async () => {
        while (!over.signal.aborted)
          await own.locks.withLock('order:42', async () => void order.push('loop'));
      };
      const loops = [loop(), loop()];
      await standing(server, 'order:42', 2);
      await end();
      const lock = await first;
      expect(order).toEqual([]);
      await lock.release();
      await (await both).release();
      over.abort();
      await Promise.all(loops);
    },
  );

  it('excludes a plain SET NX PX, whose holder cannot free our key', async () => {
    const lock = await own.locks.acquire('order:42');
    expect(await redis.set('lock:order:42', 'their-token', 'PX', 30_000, 'NX')).toBeNull();
    expect(await redis.eval(COMPARE_AND_DELETE, 1, 'lock:order:42', 'their-token')).toBe(0);
    expect(await lock.release()).toBe(true);
    expect(await redis.set('lock:order:42', 'their-token', 'PX', 30_000, 'NX')).toBe('OK');
  });

  it('never frees or extends the key of a later holder', async () => {
    const lease = (await own.store.tryAcquire(aRequest('order:42', 30)))!;
    await until(async () => redis.set('lock:order:42', 'their-token', 'PX', 30_000, 'NX'));

    expect(await lease.extend(60_000)).toBe(false);
    expect(await lease.release()).toBe(false);
    expect(await redis.get('lock:order:42')).toBe('their-token');
    expect(await redis.pttl('lock:order:42')).toBeLessThanOrEqual(30_000);
  });

  it('frees nothing when it did not get the key', async () => {
    await redis.set('lock:order:42', 'their-token', 'PX', 30_000, 'NX');
    const work = jest.fn();
    const attempt = own.locks.withLock('order:42', { waitTimeout: 0 }, work);
    await expect(attempt).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(work).not.toHaveBeenCalled();
    expect(await redis.get('lock:order:42')).toBe('their-token');
  });

  it('takes turns with the package redlock on the same key', async () => {
    const redlock = new Redlock([redis], { retryCount: 0 });
    const theirs = await redlock.acquire(['lock:order:42'], 30_000);
    expect(await own.locks.tryAcquire('order:42')).toBeUndefined();
    await theirs.release();

    const ours = await own.locks.acquire('order:42', { waitTimeout: 0 });
    await expect(redlock.acquire(['lock:order:42'], 30_000)).rejects.toThrow();
    await expect(theirs.release()).rejects.toThrow();
    expect(await ours.release()).toBe(true);

    const again = await redlock.acquire(['lock:order:42'], 30_000);
    await again.release();
  });

  it('tells of our lock who holds it, for how long, and with which fencing token', async () => {
    const lock = await own.locks.acquire('order:42', { ttl: 20_000 });
    const seen = await own.locks.inspect('order:42');
    expect(seen).toEqual({
      heldFor: expect.any(Number),
      waiters: [],
      waiterCount: 0,
      key: 'order:42',
      holder: expect.stringMatching(new RegExp(`^${hostname()}:${process.pid}:\\d{13}$`)),
      remaining: expect.any(Number),
      fencingToken: lock.fencingToken,
    });
    expect(seen!.remaining).toBeGreaterThan(10_000);
    await lock.release();
    expect(await own.locks.inspect('order:42')).toBeUndefined();
  });

  it('tells of a foreign holder what it left, and not our last fencing token', async () => {
    await own.locks.withLock('order:42', async () => {});
    await redis.set('lock:order:42', 'their-token', 'PX', 30_000, 'NX');
    expect(await own.locks.inspect('order:42')).toEqual({
      waiters: [],
      waiterCount: 0,
      key: 'order:42',
      holder: undefined,
      remaining: expect.any(Number),
      fencingToken: undefined,
    });
  });

  it('tells that a key without a ttl stays for ever', async () => {
    await redis.set('lock:order:42', 'their-token');
    expect(await own.locks.inspect('order:42')).toMatchObject({ remaining: Infinity });
    expect(await own.locks.tryAcquire('order:42')).toBeUndefined();
  });

  it.each([
    ['a list', () => redis.rpush('lock:order:42', 'x')],
    ['a hash', () => redis.hset('lock:order:42', 'x', 1)],
  ])('rejects with a LockStoreError where the key is %s', async (_, put) => {
    await put();
    const failure = { code: 'LOCK_STORE_FAILED', message: expect.stringContaining('WRONGTYPE') };
    await expect(own.locks.acquire('order:42')).rejects.toMatchObject(failure);
    await expect(own.locks.tryAcquire('order:42')).rejects.toMatchObject(failure);
    await expect(own.locks.inspect('order:42')).rejects.toMatchObject(failure);
    expect(await redis.exists('lock:order:42')).toBe(1);
  });

  it('leaves no lock behind where the fencing counter is of the wrong type', async () => {
    await redis.rpush(markOf('order:42'), 'x');
    const failure = { code: 'LOCK_STORE_FAILED' };
    await expect(own.locks.acquire('order:42')).rejects.toMatchObject(failure);
    await until(async () => (await redis.exists('lock:order:42')) === 0);
  });
});
