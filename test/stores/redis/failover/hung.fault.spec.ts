import { RedisLocks } from '../locks.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { aborted, inTime } from '../../../support/faults/in-time.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';

/** A machine that stands still for two seconds loses no lock. */
const TTL = 4_000;
const STORE_TIMEOUT = 300;
/** For what is to be no later than `STORE_TIMEOUT`. */
const BOUND = STORE_TIMEOUT + 500;
/** For what Redis is to answer. */
const PATIENT = { storeTimeout: 5_000 };

describe('When Redis hangs', () => {
  let server: RedisServer;
  let own: RedisLocks;

  beforeEach(async () => {
    server = await RedisServer.start();
    own = new RedisLocks(server.url, { ttl: TTL, storeTimeout: STORE_TIMEOUT });
    await own.locks.withLock('warm-up', PATIENT, async () => {});
  });

  afterEach(async () => {
    server.resume();
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  it('for longer than the ttl, the signal aborts no later than the ttl, and withLock rejects', async () => {
    const work = own.locks.withLock('order:42', PATIENT, async ({ signal }) => {
      server.pause();
      await inTime(TTL, aborted(signal));
      return 'done';
    });
    const lost = { code: 'LOCK_LOST', reason: 'expired', result: 'done' };
    await expect(work).rejects.toMatchObject(lost);
    server.resume();
    await nothingLeft(server);
  });

  it('an acquire ends within its waitTimeout, and what it had sent is taken back', async () => {
    server.pause();
    const attempt = own.locks.acquire('order:42', { waitTimeout: 200 });
    const failure = {
      code: 'LOCK_STORE_FAILED',
      store: 'redis',
      cause: expect.objectContaining({ name: 'StoreTimeout' }),
    };
    await expect(inTime(700, attempt)).rejects.toMatchObject(failure);
    server.resume();
    await nothingLeft(server);
    expect(await own.locks.withLock('order:42', PATIENT, async () => 'free')).toBe('free');
  });

  it('a wait for a held key ends within its waitTimeout', async () => {
    await server.command('SET', 'lock:order:42', 'their-token', 'PX', 60_000);
    const waiting = own.locks.acquire('order:42', { waitTimeout: 250, retryDelay: 20 });
    const ended = expect(inTime(750, waiting)).rejects.toMatchObject({ code: /^LOCK_/ });
    server.pause();
    await ended;
    server.resume();
    await server.command('DEL', 'lock:order:42');
    await nothingLeft(server);
  });

  it('no call takes longer than its storeTimeout', async () => {
    const [one, two] = await Promise.all(['1', '2'].map((key) => until(() => own.locks.acquire(key, { ttl: 30_000 })))); // prettier-ignore
    const failure = { code: 'LOCK_STORE_FAILED' };
    server.pause();
    await Promise.all([
      expect(inTime(BOUND, own.locks.tryAcquire('order:42'))).rejects.toMatchObject(failure),
      expect(inTime(BOUND, own.locks.inspect('order:42'))).rejects.toMatchObject(failure),
      expect(inTime(BOUND, two!.extend(30_000))).rejects.toMatchObject(failure),
      expect(inTime(BOUND, one!.release())).resolves.toBe(false),
    ]);
    expect(two!.isHeld).toBe(true);
    server.resume();
    await two!.release();
    await nothingLeft(server);
  });

  it('close ends all waits and locks within its storeTimeout', async () => {
    await server.command('SET', 'lock:held', 'their-token', 'PX', 60_000);
    const lock = await until(() => own.locks.acquire('order:42'));
    const waiting = expect(own.locks.acquire('held')).rejects.toMatchObject({ code: /^LOCK_/ });
    server.pause();
    const started = expect(own.locks.acquire('other')).rejects.toMatchObject({ code: /^LOCK_/ });
    await inTime(BOUND, own.locks.close());
    await Promise.all([waiting, started]);
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'closed' });
    server.resume();
    await server.command('DEL', 'lock:held');
    await nothingLeft(server);
  });

  it('for less than the ttl, a lock survives', async () => {
    const events = jest.fn();
    own.locks.events.on('lost', events);
    const lock = await own.locks.acquire('order:42', { ttl: 30_000, storeTimeout: 3_000 });
    server.pause();
    await expect(lock.extend(30_000)).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    server.resume();
    await lock.extend(30_000);
    expect(lock.state).toBe('held');
    expect(await lock.release()).toBe(true);
    expect(events).not.toHaveBeenCalled();
    await nothingLeft(server);
  });
});
