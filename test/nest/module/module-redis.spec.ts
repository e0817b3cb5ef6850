import { Injectable, type INestApplication, Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import {
  DistributedLock,
  DistributedLockModule,
  type DistributedLockModuleOptions,
  getLockClientToken,
  LockService,
  RedisLockStore,
} from 'nest-holdfast';
import { freePort } from '../../support/processes/free-port.js';
import { RedisServer } from '../../support/servers/redis-server.js';
import { until } from '../../support/until.js';
import { Deferred } from '../support/deferred.js';

@Injectable()
class Orders {
  @DistributedLock('order:<id>', { waitTimeout: 0 })
  async pay(id: string, work: Promise<unknown> = Promise.resolve()) {
    return (await work) ?? id;
  }
}

describe('DistributedLockModule on Redis', () => {
  let server: RedisServer;
  let own: Redis;

  beforeAll(async () => {
    server = await RedisServer.start();
    own = new Redis(server.url);
  });
  afterAll(async () => {
    own.disconnect();
    await server.stop();
  });

  const start = async (options: DistributedLockModuleOptions): Promise<INestApplication> => {
    const testing = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot(options)],
      providers: [Orders],
    }).compile();
    return testing.createNestApplication({ logger: false }).init();
  };
  const clientsOf = async () => {
    const list = String(await server.command('CLIENT', 'LIST'));
    return list.split('\n').filter((line) => line.includes('name=holdfast-test')).length;
  };
  const named = { connectionName: 'holdfast-test' };

  it.each<[string, () => DistributedLockModuleOptions['redis']]>([
    ['a URL', () => server.url],
    ['options of ioredis', () => ({ port: server.port, host: '127.0.0.1' })],
    ['a client', () => own],
    ['a function that makes a client', () => () => new Redis(server.url)],
    ['a function that promises one', () => async () => new Redis(server.url)],
  ])('locks where %s says', async (_what, redis) => {
    const [here, there] = [await start({ redis: redis() }), await start({ redis: server.url })];
    try {
      await here.get(LockService).withLock('order:1', async () => {
        await expect(there.get(Orders).pay('1')).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
        expect(await there.get(Orders).pay('2')).toBe('2');
      });
      expect(await there.get(Orders).pay('1')).toBe('1');
    } finally {
      await Promise.all([here.close(), there.close()]);
    }
  });

  it.each<[string, () => DistributedLockModuleOptions, number | undefined]>([
    ['a URL', () => ({ redis: server.url }), 8_000],
    ['its options', () => ({ redis: { port: server.port }, silenceTimeout: 1_000 }), 4_000],
    ['options of its own', () => ({ redis: { port: server.port, socketTimeout: 7 } }), 7],
    ['no limit', () => ({ redis: server.url, silenceTimeout: Infinity }), undefined],
    ['a client', () => ({ redis: own }), undefined],
  ])(
    'made from %s, a client gives up a silent server in time',
    async (_what, options, expected) => {
      const app = await start(options());
      expect(app.get<Redis>(getLockClientToken()).options.socketTimeout).toBe(expected);
      await app.close();
    },
  );

  it('leaves a client open that was handed in, and a store’s client too', async () => {
    const app = await start({ redis: own });
    expect(app.get(getLockClientToken())).toBe(own);
    await app.get(Orders).pay('1');
    await app.close();
    expect(own.status).toBe('ready');

    const withStore = await start({ store: new RedisLockStore(own) });
    await withStore.get(Orders).pay('1');
    await withStore.close();
    expect(await own.ping()).toBe('PONG');
  });

  it('closes what it opened itself', async () => {
    const made = new Redis(server.url, named);
    const apps = [
      await start({ redis: { port: server.port, ...named } }),
      await start({ redis: () => made }),
    ];
    await until(async () => (await clientsOf()) >= 2);
    await Promise.all(apps.map((app) => app.close()));
    await until(() => made.status === 'end');
    await until(async () => (await clientsOf()) === 0);
  });

  it('closes what it opened when the application does not start', async () => {
    const redis = { port: server.port, ...named };
    await expect(start({ redis, ttl: 1 })).rejects.toThrow(/ttl must be/);
    await until(async () => (await clientsOf()) === 0);
  });

  it('prefixes keys as it is told, and names its Redis client', async () => {
    const app = await start({ redis: server.url, keyPrefix: 'shop' });
    const client = app.get<Redis>(getLockClientToken());
    await app.get(LockService).withLock('order:1', async () => {
      expect(await client.keys('*shop*order:1*')).not.toEqual([]);
    });
    await app.close();
  });

  it('frees what is held and ends what waits when the application closes', async () => {
    const app = await start({ redis: server.url });
    const locks = app.get(LockService);
    const lock = await locks.acquire('order:1');
    const waiting = locks.acquire('order:1');
    const refused = expect(waiting).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('closed'),
    });
    const work = new Deferred<string>();
    const working = app.get(Orders).pay('2', work.promise);
    const lost = expect(working).rejects.toMatchObject({ code: 'LOCK_LOST', reason: 'closed' });
    await until(() => locks.inspect('order:2'));

    await app.close();
    await refused;
    work.resolve('done');
    await lost;
    expect(lock.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'closed' });
    const later = new LockService(new RedisLockStore(own));
    expect(await later.inspect('order:1')).toBeUndefined();
    expect(await later.inspect('order:2')).toBeUndefined();
    await expect(locks.acquire('order:3')).rejects.toThrow(/LockService is closed/);
    await later.close();
  });

  it('starts without Redis, runs nothing unlocked, and logs each failure once', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const redis = { port: await freePort(), host: '127.0.0.1', retryStrategy: () => 1 };
    const app = await start({ redis, storeTimeout: 50 });
    const work = jest.fn();
    const paying = app.get(LockService).withLock('order:1', work);
    await expect(paying).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    await app.close();
    expect(work).not.toHaveBeenCalled();
    expect(error.mock.calls).toEqual([
      [expect.stringMatching(/^Redis: .*ECONNREFUSED/)],
      [expect.stringMatching(/^Lock store "redis" failed for "order:1": /)],
    ]);
    error.mockRestore();
  });
});
