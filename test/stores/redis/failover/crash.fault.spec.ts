import { RedisLocks } from '../locks.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { aborted, inTime } from '../../../support/faults/in-time.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';

/** A machine that stands still for two seconds loses no lock. */
const TTL = 4_000;
const LOST = { code: 'LOCK_LOST', key: 'order:42' };

describe('When Redis crashes', () => {
  let server: RedisServer;
  let own: RedisLocks;

  beforeEach(async () => {
    server = await RedisServer.start();
    own = new RedisLocks(server.url, { ttl: TTL });
  });

  afterEach(async () => {
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  it('and comes back empty during a hold, the signal aborts within the ttl and the work is not a success', async () => {
    const work = own.locks.withLock('order:42', async (lock) => {
      const { signal } = lock;
      await Promise.all([inTime(TTL, aborted(signal)), server.restart()]);
      expect(() => lock.assertHeld()).toThrow(expect.objectContaining(LOST));
      return 'done all the same';
    });
    await expect(work).rejects.toMatchObject({ ...LOST, result: 'done all the same' });
    await nothingLeft(server);
    expect(await own.locks.withLock('order:42', async () => 'fine again')).toBe('fine again');
  });

  it('and stays away during a hold, the signal aborts within the ttl and nothing hangs', async () => {
    const jeopardy = jest.fn();
    own.locks.events.on('jeopardy', jeopardy);
    const lock = await own.locks.acquire('order:42');
    const { signal } = lock;
    await Promise.all([inTime(TTL, aborted(signal)), server.kill()]);
    expect(signal.reason).toMatchObject({ ...LOST, reason: 'expired' });
    expect(jeopardy).toHaveBeenCalled();
    expect(await lock.release()).toBe(false);
    const refused = own.locks.acquire('order:42', { waitTimeout: 200 });
    await expect(refused).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });

  it('an error of the work still comes through as the same object', async () => {
    const error = new Error('of the work');
    const work = own.locks.withLock('order:42', async ({ signal }) => {
      await Promise.all([aborted(signal), server.kill()]);
      throw error;
    });
    await expect(work).rejects.toBe(error);
  });

  it('and comes back empty while a caller waits, the wait goes on and ends in a lock', async () => {
    await server.command('SET', 'lock:order:42', 'their-token', 'PX', 60_000);
    const waiting = own.locks.acquire('order:42', { retryDelay: 20, retryJitter: 10 });
    await server.restart();
    const lock = await waiting;
    expect(lock.isHeld).toBe(true);
    expect(await lock.release()).toBe(true);
    await nothingLeft(server);
  });

  it('and stays away while a caller waits, the wait ends no later than its waitTimeout', async () => {
    await server.command('SET', 'lock:order:42', 'their-token', 'PX', 60_000);
    const waiting = own.locks.acquire('order:42', { waitTimeout: 500, retryDelay: 20 });
    const ended = expect(inTime(2_000, waiting)).rejects.toMatchObject({ code: /^LOCK_/ });
    await server.kill();
    await ended;
  });

  it('and comes back empty during a release, the release says so and throws nothing', async () => {
    const lock = await own.locks.acquire('order:42');
    server.pause();
    const released = lock.release();
    await server.restart();
    expect(await released).toBe(false);
    await nothingLeft(server);
  });

  it('and stays away during a release, withLock still returns the result of the work', async () => {
    const releaseFailed = jest.fn();
    own.locks.events.on('releaseFailed', releaseFailed);
    const options = { storeTimeout: 3_000, ttl: 30_000 };
    const work = own.locks.withLock('order:42', options, async () => {
      server.pause();
      return 'done';
    });
    expect(await inTime(4_000, work)).toBe('done');
    expect(releaseFailed).toHaveBeenCalledTimes(1);
    server.resume();
    await nothingLeft(server);
  });

  it('again and again, every lock ends free or lost, and nothing is left', async () => {
    const ends: string[] = [];
    const crashed = new AbortController();
    const worker = async (key: string) => {
      for (let cycle = 0; cycle < 10 || !crashed.signal.aborted; cycle += 1) {
        const work = own.locks.withLock(key, { waitTimeout: 1_000 }, () => server.command('PING'));
        ends.push(await work.then(() => 'done', (error: { code?: string }) => error.code ?? 'down')); // prettier-ignore
      }
    };
    const workers = Promise.all(['a', 'a', 'b', 'c', 'd'].map(worker));
    for (let crash = 0; crash < 3; crash += 1) {
      const { length } = ends;
      await until(() => ends.length > length);
      await server.restart();
    }
    crashed.abort();
    await workers;
    expect(ends.length).toBeGreaterThanOrEqual(50);
    await nothingLeft(server);
  });
});
