import { type LockError, lockKey } from 'nest-holdfast';
import { rejectionOf } from '../core/support/outcome.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { RedisLocks } from './redis-locks.js';
import { nothingLeft } from '../support/faults/left-behind.js';

describe('locks of many keys on Redis', () => {
  let server: RedisServer;
  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(() => server.stop());

  const keys = (owner: string, count: number) =>
    Array.from({ length: count }, (_, index) => lockKey`${owner}:${index}`);

  it('are refused from 1,001 on, and harm no other lock of the same turn', async () => {
    await using own = new RedisLocks(server.url, { waitTimeout: 0 });
    const victims = (from: number) =>
      Array.from({ length: 10 }, (_, n) => own.locks.withLock(`victim:${from + n}`, () => 'done'));
    const before = victims(0);
    const attack = own.locks.acquire(keys('attacker', 41_750)).catch(({ code }: LockError) => code);
    const after = victims(10);
    expect(await attack).toBe('LOCK_KEY_INVALID');
    expect(new Set(await Promise.all([...before, ...after]))).toEqual(new Set(['done']));
    await nothingLeft(server);
  });

  it.each(['write', 'read'] as const)(
    'of which one is gone are all free once that is known (%s)',
    async (mode) => {
      await using own = new RedisLocks(server.url, { ttl: 30_000 });
      const lock = await own.locks.acquire(['gone', 'left', 'left too'], { mode });
      await own.redis.del('lock:gone');
      const left = () => own.redis.exists('lock:left', 'lock:left too');
      expect(await left()).toBe(2);
      expect(await rejectionOf(lock.extend(30_000))).toMatchObject({ code: 'LOCK_LOST' });
      await until(async () => (await left()) === 0);
    },
  );

  it('of one turn leave in calls that no list outgrows', async () => {
    await using own = new RedisLocks(server.url, { waitTimeout: 0 });
    const sent = jest.spyOn(own.redis, 'evalsha');
    const taken = Array.from({ length: 12 }, (_, n) => own.locks.acquire(keys(`o${n}`, 1_000)));
    const held = await Promise.all(taken);
    await Promise.all(held.map((lock) => lock.extend(20_000)));
    const released = await Promise.all(held.map((lock) => lock.release()));
    expect(new Set(released)).toEqual(new Set([true]));
    const longest = sent.mock.calls.reduce((most, { length }) => Math.max(most, length), 0);
    expect(longest).toBeLessThan(8_000);
    expect(await own.redis.exists(...held.map(({ key }) => `lock:{${key}}`))).toBe(0);
  });
});
