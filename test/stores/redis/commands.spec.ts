import { RedisLockStore } from 'nest-holdfast';
import { RedisServer } from '../../support/servers/redis-server.js';
import { CommandLog } from '../support/command-log.js';
import { RedisLocks, aRequest } from './locks.js';

describe('The commands of RedisLockStore', () => {
  let server: RedisServer;
  let own: RedisLocks;

  beforeEach(async () => {
    server = await RedisServer.start();
    own = new RedisLocks(server.url);
  });

  afterEach(async () => {
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  it('is one command to acquire and one to release', async () => {
    await own.locks.withLock('order:1', async () => {});
    await using log = await CommandLog.of(own.redis, server.url);

    const lock = await own.locks.acquire('order:42');
    expect(await log.commands()).toEqual(['evalsha']);
    await lock.release();
    expect(await log.commands()).toEqual(['evalsha']);
  });

  it('is two commands per cycle, also for several keys and with fencing', async () => {
    await own.locks.withLock('order:1', async () => {});
    await using log = await CommandLog.of(own.redis, server.url);

    for (let cycle = 0; cycle < 5; cycle += 1) {
      await own.locks.withLock(['order:42', 'customer:7'], async (lock) => lock.fencingToken);
    }
    expect(await log.commands()).toEqual(Array.from({ length: 10 }, () => 'evalsha'));
  });

  it('is nothing for a lock that is re-entered', async () => {
    await own.locks.withLock('order:42', async () => {
      await using log = await CommandLog.of(own.redis, server.url);
      await own.locks.withLock('order:42', { reentrant: true }, async () => {});
      expect(await log.commands()).toEqual([]);
    });
  });

  it('is one command to refuse a held key, to extend, and to inspect', async () => {
    await using other = new RedisLocks(server.url);
    const lock = await own.locks.acquire('order:42');
    await lock.extend(30_000);
    await own.locks.inspect('order:42');
    await using log = await CommandLog.of(own.redis, server.url);

    const others = await other.locks.acquire('order:43');
    expect(await own.locks.tryAcquire('order:43')).toBeUndefined();
    expect(await log.commands()).toEqual(['evalsha']);
    await others.release();
    expect(await own.locks.tryAcquire('order:42')).toBeUndefined(); // held in this process
    expect(await log.commands()).toEqual([]);
    await lock.extend(30_000);
    expect(await log.commands()).toEqual(['evalsha']);
    expect(await own.locks.inspect('order:42')).toBeDefined();
    expect(await log.commands()).toEqual(['evalsha']);
  });

  it.each([
    ['some commands of a turn in each write', {}, [1, 25]],
    ['one command in each write where batchWrites is off', { batchWrites: false }, [50, 50]],
  ] as const)('is %s', async (_, options, [fewest, most]) => {
    const store = new RedisLockStore(own.redis, options);
    await (await store.tryAcquire(aRequest('order:42')))!.release();
    const stream = own.redis.stream;
    const written = [jest.spyOn(stream, '_write'), jest.spyOn(stream, '_writev' as '_write')];

    const keys = Array.from({ length: 50 }, (_each, index) => `order:${index}`);
    const attempts = keys.map((key) => store.tryAcquire(aRequest(key)));
    expect(await Promise.all(attempts)).not.toContain(undefined);
    const writes = written.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    expect(writes).toBeGreaterThanOrEqual(fewest);
    expect(writes).toBeLessThanOrEqual(most);
    expect(stream.writableCorked).toBe(0);
  });

  it('is a script in full at first, the one that takes and the one that frees, and its hash from then on', async () => {
    await using log = await CommandLog.of(own.redis, server.url);
    await own.locks.withLock('order:42', async () => {});
    expect(await log.commands()).toEqual(['eval', 'eval']);
    await own.locks.withLock('order:42', async () => {});
    expect(await log.commands()).toEqual(['evalsha', 'evalsha']);
  });

  it('survives SCRIPT FLUSH between any two commands', async () => {
    const flush = () => server.command('SCRIPT', 'FLUSH');
    await flush();
    const lock = await own.locks.acquire('order:42');
    await flush();
    await lock.extend(20_000);
    await flush();
    expect(await own.locks.inspect('order:42')).toMatchObject({ fencingToken: lock.fencingToken });
    await flush();
    expect(await own.locks.tryAcquire('order:42')).toBeUndefined();
    await flush();
    expect(await lock.release()).toBe(true);
  });

  it('survives a restart of the server', async () => {
    await own.locks.withLock('order:42', async () => {});
    await server.restart();
    const lease = await own.store.tryAcquire(aRequest('order:42'));
    expect(await lease!.release()).toBe(true);
  });
});
