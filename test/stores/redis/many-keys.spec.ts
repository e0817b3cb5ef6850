import { type LockError, LockService, RedisLockStore, lockKey } from 'nest-holdfast';
import { rejectionOf } from '../../core/support/outcome.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { standing } from '../support/app-instance.js';
import { RedisLocks } from './locks.js';
import { nothingLeft } from '../../support/faults/left-behind.js';

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
      await using own = new RedisLocks(server.url, { ttl: 600_000 });
      const lock = await own.locks.acquire(['gone', 'left', 'left too'], { mode });
      await own.redis.del('lock:gone');
      const left = () => own.redis.exists('lock:left', 'lock:left too');
      expect(await left()).toBe(2);
      expect(await rejectionOf(lock.extend(600_000))).toMatchObject({ code: 'LOCK_LOST' });
      await until(async () => (await left()) === 0);
      await nothingLeft(server);
    },
  );

  it.each([
    ['write', 0],
    ['write', 100],
    ['read', 0],
    ['read', 100],
  ] as const)('name the one that was refused (%s, within %d ms)', async (mode, waitTimeout) => {
    await using other = new RedisLocks(server.url);
    await using own = new RedisLocks(server.url);
    const held = await other.locks.acquire('b');
    const refused = own.locks.acquire(['a', 'b', 'c'], { mode, waitTimeout });
    expect(await rejectionOf(refused)).toMatchObject({
      code: 'LOCK_TIMEOUT',
      key: 'a, b, c',
      refusedBy: 'b',
      message: expect.stringContaining('"b" is held'),
    });
    await held.release();
  });

  it('name the one that others wait for', async () => {
    await using other = new RedisLocks(server.url);
    await using own = new RedisLocks(server.url);
    await server.command('SET', 'lock:b', 'somebody', 'PX', 60_000);
    const next = other.locks.acquire('b');
    await standing(server, 'b', 1);
    await server.command('DEL', 'lock:b');
    const refused = own.locks.acquire(['a', 'b'], { waitTimeout: 0 });
    expect(await rejectionOf(refused)).toMatchObject({ refusedBy: 'b' });
    await (await next).release();
  });

  describe.each([8, 0])('beside callers that loop (localPassLimit %d)', (localPassLimit) => {
    it.each(['write', 'read'] as const)('are granted in their turn (%s)', async (mode) => {
      for (const looped of ['first', 'last']) {
        await using busy = new RedisLocks(server.url);
        await using own = new RedisLocks(server.url, { waitTimeout: 60_000 });
        const store = new RedisLockStore(busy.redis, { localPassLimit });
        const locks = new LockService(store, { waitTimeout: 60_000 });
        const over = new AbortController();
        let grants = 0;
        const loop = async () => {
          while (!over.signal.aborted) await locks.withLock(looped, async () => void grants++);
        };
        const loops = [loop(), loop()];
        await until(() => grants > 20);
        const both = await own.locks.acquire(['last', 'first'], { mode });
        expect(both.isHeld).toBe(true);
        await both.release();
        over.abort();
        await Promise.all(loops);
        await locks.close();
        expect(await own.redis.exists('lock:first', 'lock:last')).toBe(0);
      }
    });
  });

  it('leave those alone that are free, in the process and elsewhere', async () => {
    for (const [taken, free] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      await using other = new RedisLocks(server.url);
      await using own = new RedisLocks(server.url);
      const held = await other.locks.acquire(taken);
      const both = own.locks.acquire(['a', 'b']);
      await standing(server, taken, 1);
      for (const { locks } of [own, other])
        for (let round = 0; round < 3; round++) await locks.withLock(free, () => undefined);
      await held.release();
      await (await both).release();
      expect(await own.redis.exists('lock:a', 'lock:b')).toBe(0);
    }
  });

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
