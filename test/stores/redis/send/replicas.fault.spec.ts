import type { Redis } from 'ioredis';
import { Cluster } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { startReplica } from '../../../support/servers/redis-replica.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { OwnClient, aRequest } from '../locks.js';

describe('A lock that replicas must have', () => {
  let master: RedisServer;
  let replica: RedisServer;
  let client: OwnClient;
  let redis: Redis;

  beforeEach(async () => {
    master = await RedisServer.start();
    replica = await startReplica(master);
    client = new OwnClient(master.url);
    ({ redis } = client);
    await until(async () => (await redis.set('warm', 'up')) && (await redis.wait(1, 100)) === 1);
  });

  afterEach(async () => {
    await client[Symbol.asyncDispose]();
    await Promise.all([master.stop(), replica.stop()]);
  });

  const withReplicas = (replicas: number, replicaTimeout = 100) =>
    new RedisLockStore(redis, { replicas, replicaTimeout });

  it('is on the replica as soon as it is granted', async () => {
    const locks = new LockService(withReplicas(1, 5_000));
    const lock = await locks.acquire('order:42');
    expect(await replica.command('GET', 'lock:order:42')).toBe(await redis.get('lock:order:42'));
    await lock.extend(60_000);
    expect(Number(await replica.command('PTTL', 'lock:order:42'))).toBeGreaterThan(40_000);
    expect(await lock.release()).toBe(true);
  });

  it('is refused to others without waiting for a replica', async () => {
    const locks = new LockService(withReplicas(1, 5_000));
    const lock = await locks.acquire('order:42');
    replica.pause();
    expect(await locks.tryAcquire('order:42')).toBeUndefined();
    replica.resume();
    await lock.release();
  });

  it('is not granted by a hung replica, and its key is freed again', async () => {
    const locks = new LockService(withReplicas(1));
    replica.pause();
    await expect(locks.acquire('order:42')).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('0 of 1 replicas acknowledged'),
    });
    await until(async () => (await redis.exists('lock:order:42')) === 0);
  });

  it('is not granted where there are fewer replicas, and its key is freed again', async () => {
    const locks = new LockService(withReplicas(2, 1_000));
    await expect(locks.tryAcquire('order:42')).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('1 of 2 replicas acknowledged'),
    });
    await until(async () => (await redis.exists('lock:order:42')) === 0);
  });

  it('is in jeopardy, and lost in the end, when its extensions are not acknowledged', async () => {
    const locks = new LockService(withReplicas(1, 1_000), { ttl: 4_000 });
    const jeopardy = jest.fn();
    locks.events.on('jeopardy', jeopardy);
    const lock = await locks.acquire('order:42');
    replica.pause();
    await expect(lock.extend(4_000)).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    await until(() => lock.signal.aborted);
    expect(jeopardy).toHaveBeenCalled();
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'expired' });
  });

  it('recovers when the replica answers again in time', async () => {
    const locks = new LockService(withReplicas(1, 1_000), { ttl: 9_000 });
    const recovered = jest.fn();
    locks.events.on('recovered', recovered);
    const lock = await locks.acquire('order:42');
    replica.pause();
    await until(() => lock.state === 'jeopardy');
    replica.resume();
    await until(() => lock.state === 'held');
    expect(recovered).toHaveBeenCalledTimes(1);
    expect(await lock.release()).toBe(true);
  });

  it('is not granted by a WAIT that another connection answered', async () => {
    await using proxy = await TcpProxy.start(master.port);
    await using behind = new OwnClient(proxy.url, { autoResendUnfulfilledCommands: true });
    const store = new RedisLockStore(behind.redis, { replicas: 1, replicaTimeout: 10_000 });
    await (await store.tryAcquire(aRequest('order:1')))!.release();

    replica.pause();
    const { bytes } = proxy.requests;
    const attempt = store.tryAcquire(aRequest('order:42'));
    const failure = expect(attempt).rejects.toThrow('the connection was lost during WAIT');
    await until(() => proxy.requests.bytes > bytes);
    await until(async () => String(await master.command('CLIENT', 'LIST')).includes('cmd=wait'));
    proxy.cutAll();
    replica.resume();
    await failure;
    await until(async () => (await redis.exists('lock:order:42')) === 0);
  });

  it('cannot be asked of a Cluster whose masters cannot be reached one by one', () => {
    const wait = { evalsha: jest.fn(), eval: jest.fn(), wait: jest.fn(), isCluster: true };
    expect(() => new RedisLockStore(wait, { replicas: 1 })).toThrow(/slots and nodes/);
    expect(() => new RedisLockStore(wait)).not.toThrow();
  });

  it('cannot be asked of a Cluster whose nodes add another keyPrefix than the client', () => {
    const options = { lazyConnect: true, keyPrefix: 'a:', redisOptions: { keyPrefix: 'b:' } };
    const cluster = new Cluster([master.url], options);
    expect(() => new RedisLockStore(cluster, { replicas: 1 })).toThrow(/one keyPrefix/);
  });
});

describe('RedisLockStore refuses', () => {
  const client = { evalsha: jest.fn(), eval: jest.fn(), wait: jest.fn() };

  it.each([[undefined], [null], ['redis://127.0.0.1'], [{}], [{ host: '127.0.0.1' }]])(
    '%p as a client',
    (wrong) => {
      expect(() => new RedisLockStore(wrong as never)).toThrow(TypeError);
    },
  );

  it.each([-1, 0.5, NaN, Infinity, '1'])('%p replicas', (replicas) => {
    const create = () => new RedisLockStore(client, { replicas: replicas as number });
    expect(create).toThrow(typeof replicas === 'number' ? RangeError : TypeError);
  });

  it.each([-1, 0, 0.5, NaN, Infinity, '1'])('a replicaTimeout of %p', (replicaTimeout) => {
    const options = { replicaTimeout: replicaTimeout as number };
    expect(() => new RedisLockStore(client, options)).toThrow(
      'replicaTimeout must be a whole number of ms',
    );
  });

  it.each([1, null, {}])('the keyPrefix %p', (keyPrefix) => {
    const options = { keyPrefix: keyPrefix as never };
    expect(() => new RedisLockStore(client, options)).toThrow(TypeError);
  });
});
