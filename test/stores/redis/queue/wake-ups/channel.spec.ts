import { RedisServer } from '../../../../support/servers/redis-server.js';
import { until } from '../../../../support/until.js';
import { CLIENTS, AppInstance, standing } from '../../../support/app-instance.js';
import { disconnect } from '../../locks.js';
import { aborted } from '../../../../support/faults/in-time.js';
import { ServerLog } from '../../../support/server-log.js';

describe.each(CLIENTS)('The channel on which a store is woken, with %s,', (_, Client) => {
  let server: RedisServer;
  let holder: AppInstance;
  let own: AppInstance;

  beforeEach(async () => {
    server = await RedisServer.start();
    holder = new AppInstance(server.url, { Client });
    own = new AppInstance(server.url, { Client });
  });

  afterEach(async () => {
    await Promise.all([holder, own].map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  const channels = () => server.command('PUBSUB', 'CHANNELS', '*') as Promise<string[]>;
  const connections = async () =>
    String(await server.command('CLIENT', 'LIST', 'TYPE', 'normal')).split('addr=').length +
    String(await server.command('CLIENT', 'LIST', 'TYPE', 'pubsub')).split('addr=').length;

  async function waitOnce({ locks }: AppInstance): Promise<void> {
    const held = await holder.locks.acquire('order:42');
    const waiting = locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    await held.release();
    await (await waiting).release();
  }

  it('is not opened by a process that neither waits nor extends a lock', async () => {
    const held = await holder.locks.acquire('order:42');
    expect(await own.locks.tryAcquire('order:42')).toBeUndefined();
    await own.locks.withLock('order:43', async () => {});
    await own.locks.withLock(['order:44', 'order:45'], async () => {});
    await held.release();
    expect(await channels()).toEqual([]);
  });

  it('is opened at the first wait, and kept for the next', async () => {
    await waitOnce(own);
    expect(await channels()).toEqual([expect.stringMatching(/^holdfast:/)]);
    await using log = await ServerLog.of(server);
    await waitOnce(own);
    expect(await log.take('subscribe')).toEqual([]);
  });

  it('ends with the service, and the client stays open', async () => {
    await own.redis.ping();
    await holder.redis.ping();
    const before = await connections();
    await waitOnce(own);
    await own.locks.close();
    expect(await channels()).toEqual([]);
    expect(await own.redis.ping()).toBe('PONG');
    expect(await connections()).toBe(before);
    expect(['message', 'close', 'ready'].map((event) => own.redis.listenerCount(event))).toEqual([
      0, 0, 0,
    ]);
  });

  it('ends with the store, and is opened again by the next wait', async () => {
    await waitOnce(own);
    await own.store.close();
    expect(await channels()).toEqual([]);
    await waitOnce(own);
    expect(await channels()).toHaveLength(1);
  });

  it('ends with the client, also where the store is not closed', async () => {
    await waitOnce(own);
    await own.redis.quit();
    await until(async () => (await channels()).length === 0);
    expect(own.redis.listenerCount('end')).toBe(0);
  });

  it('is not opened again by a lock that outlives the client', async () => {
    const before = await connections();
    await using named = new AppInstance(server.url, { Client });
    const lock = await named.locks.acquire('order:42', { ttl: 300 });
    const lost = aborted(lock.signal);
    await named.redis.quit();
    await lost; // its extensions have failed
    await expect(named.locks.acquire('order:42')).rejects.toThrow('Connection is closed');
    expect(await channels()).toEqual([]);
    expect(await connections()).toBe(before);
  });

  it('ends with a service that still waits, and the line with it', async () => {
    await holder.locks.acquire('order:42');
    const ended = expect(own.locks.acquire('order:42')).rejects.toThrow('is closed');
    await standing(server, 'order:42', 1);
    await own.locks.close();
    disconnect(own.redis);
    await ended;
    await standing(server, 'order:42', 0);
    expect(await channels()).toEqual([]);
  });

  it('that the server forbids is a LockStoreError at once, and the next wait tries again', async () => {
    await server.command('ACL', 'SETUSER', 'own', 'on', '>pw', '~*', '+@all', 'resetchannels');
    const client = { username: 'own', password: 'pw' };
    await using limited = new AppInstance(server.url, { Client, client, waitTimeout: Infinity });
    const held = await holder.locks.acquire('order:42');
    await expect(limited.locks.acquire('order:42')).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      key: 'order:42',
      message: expect.stringMatching(/NOPERM.*channel/),
    });
    await held.release();
    await server.command('ACL', 'SETUSER', 'own', '&holdfast:*');
    await waitOnce(limited);
  });
});
