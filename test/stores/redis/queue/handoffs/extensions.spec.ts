import type { Lock } from 'nest-holdfast';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { CommandLog } from '../../../support/command-log.js';
import { AppInstance, standing } from '../../../support/app-instance.js';

const LOCKS = 250;

describe('What many locks ask for at once', () => {
  let server: RedisServer;
  let own: AppInstance;
  let held: Lock[];

  beforeEach(async () => {
    server = await RedisServer.shared();
    own = new AppInstance(server.url);
    const keys = Array.from({ length: LOCKS }, (_, index) => `order:${index}`);
    held = await Promise.all(keys.map((key) => own.locks.acquire(key)));
    await held[0]!.extend(30_000); // the server knows the script
  });

  afterEach(async () => {
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  const extendAll = () => Promise.allSettled(held.map((lock) => lock.extend(60_000)));
  const ttl = async (index: number) => Number(await server.command('PTTL', `lock:order:${index}`));

  it('is extended in three calls', async () => {
    await using log = await CommandLog.of(own.redis, server.url);
    const ends = await extendAll();
    expect(await log.commands()).toEqual(['evalsha', 'evalsha', 'evalsha']);
    expect(ends.filter(({ status }) => status === 'rejected')).toEqual([]);
    for (const index of [0, 99, 100, 249]) expect(await ttl(index)).toBeGreaterThan(30_000);
  });

  it('is extended, though one lock of them is lost and the key of another became a list', async () => {
    await server.command('SET', 'lock:order:7', 'foreign', 'PX', 60_000);
    await server.command('DEL', 'lock:order:8', 'lock:order:120');
    await server.command('LPUSH', 'lock:order:120', 'not a lock');
    const ends = await extendAll();
    const failures = ends.flatMap((end, index) =>
      end.status === 'rejected' ? [{ index, error: end.reason as unknown }] : [],
    );
    const lost = expect.objectContaining({ code: 'LOCK_LOST', reason: 'gone' });
    expect(failures).toEqual([
      { index: 7, error: lost },
      { index: 8, error: lost },
      {
        index: 120,
        error: expect.objectContaining({
          code: 'LOCK_STORE_FAILED',
          key: 'order:120',
          message: expect.stringContaining('WRONGTYPE'),
        }),
      },
    ]);
    expect(await server.command('GET', 'lock:order:7')).toBe('foreign');
    expect(await server.command('EXISTS', 'lock:order:8')).toBe(0);
    for (const index of [6, 9, 119, 121]) expect(await ttl(index)).toBeGreaterThan(30_000);
  });

  it('as a sign of life of those who wait, takes three calls, too', async () => {
    await using waiter = new AppInstance(server.url);
    const waiting = held.map(({ key }) => waiter.locks.acquire(key));
    await Promise.all([0, 100, 249].map((index) => standing(server, `order:${index}`, 1)));
    await using log = await CommandLog.of(waiter.redis, server.url);
    const sent: string[] = [];
    while (sent.length < 6) sent.push(...(await log.commands()));
    expect(sent.length).toBe(6); // two beats
    await Promise.all(held.map((lock) => lock.release()));
    await Promise.all(waiting);
  });

  it('fails only for the one who waits for a key that became a list', async () => {
    await using waiter = new AppInstance(server.url);
    const waiting = held.slice(0, 3).map(({ key }) => waiter.locks.acquire(key));
    const ends = Promise.allSettled(waiting);
    await standing(server, 'order:2', 1);
    await server.command('DEL', 'lock:order:1');
    await server.command('LPUSH', 'lock:order:1', 'not a lock');
    await waiting[1]!.catch(() => {});
    await Promise.all(held.map((lock) => lock.release()));
    expect((await ends).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });
});
