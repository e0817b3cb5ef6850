import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedisServer } from '../support/redis-server.js';

/** Nothing announces that the key became free, so a waiter that relied on a message would wait for its whole timeout. */
describe('trap-14 a wake-up that never comes', () => {
  let server: RedisServer;
  let client: Redis;
  let locks: LockService;
  let other: LockService;

  beforeAll(async () => {
    server = await RedisServer.start();
    client = new Redis(server.url);
    locks = new LockService(new RedisLockStore(client));
    other = new LockService(new RedisLockStore(client));
  });

  afterAll(async () => {
    await locks.close();
    await other.close();
    await client.quit();
    await server.stop();
  });

  it('stalls nobody when the key is deleted by hand', async () => {
    const holder = await other.acquire('deleted');
    const waiting = locks.acquire('deleted');
    await client.del('lock:deleted');
    await (await waiting).release();
    await holder.release();
  });

  it('stalls nobody when the key expires, for its holder has died', async () => {
    await client.set('lock:expired', 'of a process that is gone', 'PX', 100, 'NX');
    const lock = await locks.acquire('expired');
    expect(lock.isHeld).toBe(true);
    await lock.release();
  });

  it('stalls nobody when every subscriber connection is cut while they wait', async () => {
    const holder = await other.acquire('cut');
    const waiting = locks.acquire('cut');
    await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await holder.release();
    await (await waiting).release();
  });
});
