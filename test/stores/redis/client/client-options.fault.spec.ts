import type { RedisOptions } from 'ioredis';
import { RedisLocks } from '../locks.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';

describe('When the client is told to give up early', () => {
  let server: RedisServer;
  let own: RedisLocks;

  beforeEach(async () => {
    server = await RedisServer.start();
  });

  afterEach(async () => {
    server.resume();
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  async function connect(client: RedisOptions): Promise<RedisLocks> {
    own = new RedisLocks(server.url, { client, ttl: 4_000 });
    await until(() => own.redis.status === 'ready');
    await own.locks.withLock('warm-up', async () => {});
    return own;
  }

  function failure(cause: RegExp) {
    return {
      code: 'LOCK_STORE_FAILED',
      store: 'redis',
      message: expect.stringMatching(cause),
      cause: expect.objectContaining({ message: expect.stringMatching(cause) }),
    };
  }

  // The client's own error, until it has tried to connect again in vain.
  it.each<[string, RedisOptions, RegExp]>([
    ['enableOfflineQueue: false', { enableOfflineQueue: false }, /enableOfflineQueue|ECONN/],
    ['maxRetriesPerRequest: 1', { maxRetriesPerRequest: 1 }, /max retries per request|ECONN/],
    ['no reconnection', { retryStrategy: () => null }, /Connection is closed|ECONN/],
  ])('by %s, its errors are LockStoreErrors with the cause', async (_, client, cause) => {
    const { locks, redis } = await connect(client);
    const lock = await locks.acquire('held', { ttl: 30_000 });
    await server.kill();
    await until(() => redis.status !== 'ready');

    const work = jest.fn();
    await expect(locks.withLock('order:42', work)).rejects.toMatchObject(failure(cause));
    await expect(locks.tryAcquire('order:42')).rejects.toMatchObject(failure(cause));
    await expect(locks.inspect('order:42')).rejects.toMatchObject(failure(cause));
    await expect(lock.extend(30_000)).rejects.toMatchObject(failure(cause));
    expect(lock.isHeld).toBe(true);
    expect(await lock.release()).toBe(false);
    expect(work).not.toHaveBeenCalled();
  });

  it('by commandTimeout, a hung server leads to a LockStoreError, and nothing is left', async () => {
    const { locks } = await connect({ commandTimeout: 3_000 });
    server.pause();
    const work = jest.fn();
    await expect(locks.withLock('order:42', work)).rejects.toMatchObject(failure(/timed out/));
    expect(work).not.toHaveBeenCalled();
    server.resume();
    await nothingLeft(server);
    expect(await locks.withLock('order:42', async () => 'free')).toBe('free');
  });

  it('by enableOfflineQueue: false, an acquire that was cut off is free within its ttl', async () => {
    const { locks } = await connect({ enableOfflineQueue: false, disconnectTimeout: 100 });
    server.pause();
    const acquiring = locks.acquire('order:42');
    const failed = expect(acquiring).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    own.redis.disconnect();
    await failed;
    server.resume();
    await nothingLeft(server);
  });

  it('by a connection that was never made, nothing is locked and nothing hangs', async () => {
    await server.kill();
    own = new RedisLocks(server.url, { waitTimeout: 200 });
    const work = jest.fn();
    await expect(own.locks.withLock('order:42', work)).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
    });
    expect(work).not.toHaveBeenCalled();
  });

  it('or closed by the application, a LockStoreError says so', async () => {
    const { locks, redis } = await connect({});
    await redis.quit();
    await expect(locks.acquire('order:42')).rejects.toMatchObject(failure(/Connection is closed/));
    await locks.close();
  });
});
