import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { createClient, createSentinel } from 'redis';
import { createClient as createClient6, createSentinel as createSentinel6 } from 'redis6';
import { SentinelProcess } from '../../../support/servers/sentinel-process.js';
import { until } from '../../../support/until.js';
import { LoadingRedis } from './loading-redis.js';

jest.setTimeout(240_000);

const NAME = 'holdfast';
const WITHIN = { within: 60_000, every: 20 };
const PATIENT = { waitTimeout: 60_000, storeTimeout: 60_000 };

type Client = ConstructorParameters<typeof RedisLockStore>[0];
/** Ports of the server and of a sentinel. */
type Open = (server: number, sentinel: number) => Client;

const sentinels = (port: number) => ({ name: NAME, sentinelRootNodes: [{ host: '127.0.0.1', port }] }); // prettier-ignore

const NODE_REDIS: [string, Open][] = [
  ['a client of node-redis 5', (port) => createClient({ socket: { port } })],
  ['a client of node-redis 6', (port) => createClient6({ socket: { port } })],
  ['a Sentinel client of node-redis 5', (_, port) => createSentinel(sentinels(port))],
  ['a Sentinel client of node-redis 6', (_, port) => createSentinel6(sentinels(port))],
];

describe('While the server loads its data,', () => {
  let redis: LoadingRedis;
  let sentinel: SentinelProcess;
  let locks: LockService;
  let client: Client;

  beforeEach(async () => {
    redis = await LoadingRedis.start();
    sentinel = await SentinelProcess.start(NAME, redis.server.port, 1);
  });

  afterEach(async () => {
    await locks.close();
    if (client instanceof Redis) client.disconnect();
    await sentinel.stop();
    await redis[Symbol.asyncDispose]();
  });

  function start(open: Open): void {
    client = open(redis.server.port, sentinel.port);
    locks = new LockService(new RedisLockStore(client, { silenceTimeout: 1_000 }), { ttl: 60_000 });
  }

  /** The answer of the server to a question of the store is that it loads. */
  async function asked(): Promise<void> {
    const before = await redis.questions();
    await until(async () => (await redis.questions()) > before, WITHIN);
  }

  describe.each<[string, Open]>([
    ['a client of ioredis', (port) => new Redis({ port, maxLoadingRetryTime: 100 })],
    ...NODE_REDIS,
  ])('with %s,', (_, open) => {
    it('the first lock waits, and is granted then', async () => {
      start(open);
      await redis.beginLoading();
      const granted = jest.fn();
      const acquiring = locks.acquire('order:42', PATIENT);
      const settled = acquiring.then(granted, granted);
      await asked();
      await asked();
      expect(granted).not.toHaveBeenCalled();
      await redis.finishLoading();
      expect(await (await acquiring).release()).toBe(true);
      await settled;
    });

    it('the next lock of a store that was connected before waits, and is granted then', async () => {
      start(open);
      await locks.withLock('warm-up', async () => {});
      await redis.beginLoading();
      const acquiring = locks.acquire('order:42', PATIENT);
      acquiring.catch(() => {});
      await asked();
      await redis.finishLoading();
      expect(await (await acquiring).release()).toBe(true);
    });
  });

  it.each(NODE_REDIS)('the error says so where it takes too long, with %s', async (_, open) => {
    start(open);
    await redis.beginLoading();
    const refused = () => locks.tryAcquire('order:42').catch((error: unknown) => error);
    expect(await refused()).toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('LOADING the server loads its data'),
    });
    await redis.finishLoading();
    await until(() => locks.withLock('order:42', async () => true), WITHIN);
  });
});
