import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { startReplica } from '../../../support/servers/redis-replica.js';
import { until } from '../../../support/until.js';
import { standing } from '../../support/app-instance.js';
import { OwnClient } from '../locks.js';

describe('Waiting for a lock that a replica must have', () => {
  let master: RedisServer;
  let replica: RedisServer;
  let clients: OwnClient[];
  let services: LockService[];

  beforeEach(async () => {
    master = await RedisServer.start();
    replica = await startReplica(master);
    clients = [new OwnClient(master.url), new OwnClient(master.url)];
    services = clients.map(({ redis }) => {
      const store = new RedisLockStore(redis, { replicas: 1, replicaTimeout: 2_000 });
      return new LockService(store);
    });
    await until(async () => {
      const { redis } = clients[0]!;
      return (await redis.set('warm', 'up')) && (await redis.wait(1, 100)) === 1;
    });
  });

  afterEach(async () => {
    replica.resume();
    await Promise.all(services.map((locks) => locks.close()));
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
    await Promise.all([master.stop(), replica.stop()]);
  });

  const onReplica = () => replica.command('GET', 'lock:order:42');

  it('ends in a lock that the replica has, handed off or passed on', async () => {
    const [first, second] = services as [LockService, LockService];
    const held = await first.acquire('order:42');
    const passed = first.acquire('order:42');
    const handedOff = second.acquire('order:42');
    await standing(master, 'order:42', 1);
    await held.release();
    for (const waiting of [passed, handedOff]) {
      const lock = await waiting;
      expect(await onReplica()).toBe(await master.command('GET', 'lock:order:42'));
      await lock.release();
    }
  });

  it('ends in a LockStoreError while the replica hangs, and its key is freed again', async () => {
    const [first, second] = services as [LockService, LockService];
    const held = await first.acquire('order:42');
    const waiting = second.acquire('order:42');
    await standing(master, 'order:42', 1);
    replica.pause();
    await held.release();
    await expect(waiting).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('0 of 1 replicas acknowledged'),
    });
    await until(async () => (await master.command('EXISTS', 'lock:order:42')) === 0);
  });
});
