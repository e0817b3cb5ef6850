import { type Lock, LockService, RedisLockStore } from 'nest-holdfast';
import { createClient, createCluster, createSentinel } from 'redis';
import {
  createClient as createClient6,
  createCluster as createCluster6,
  createSentinel as createSentinel6,
} from 'redis6';
import { clusterSlot } from '../../../../lib/redis-client/cluster-slot.js';
import { aborted } from '../../../support/faults/in-time.js';
import { lineLength } from '../../../support/redis-line.js';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { RedisSentinel } from '../../../support/servers/redis-sentinel.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';

jest.setTimeout(120_000);

const WITHIN = { within: 60_000, every: 20 };
const KEY = 'lock:order:42';
const CLOSED = {
  code: 'LOCK_STORE_FAILED',
  message: expect.stringMatching(/the client was closed$/),
};

/** A client of the application. */
type AppClient = ConstructorParameters<typeof RedisLockStore>[0] & {
  connect(): Promise<unknown>;
  destroy(): unknown;
  close(): unknown;
};

/** The servers, and how a client of them is made. */
interface Servers {
  readonly master: RedisServer;
  readonly stop: () => Promise<unknown>;
  readonly open: () => AppClient;
}

const alone = (create: typeof createClient) => async (): Promise<Servers> => {
  const server = await RedisServer.start();
  return { master: server, stop: () => server.stop(), open: () => create({ url: server.url }) };
};

const behindSentinel = (create: typeof createSentinel) => async (): Promise<Servers> => {
  const sentinel = await RedisSentinel.start({ replicas: 0, sentinels: 1 });
  const open = () => create(sentinel.nodeRedis);
  return { master: sentinel.master, stop: () => sentinel.stop(), open };
};

const ofCluster = (create: typeof createCluster) => async (): Promise<Servers> => {
  const cluster = await RedisCluster.start(3);
  const [master] = await cluster.serving(clusterSlot(KEY));
  return { master: master!, stop: () => cluster.stop(), open: () => create(cluster.nodeRedis) };
};

describe.each([
  ['createClient of node-redis 5', alone(createClient)],
  ['createClient of node-redis 6', alone(createClient6 as unknown as typeof createClient)],
  ['createSentinel of node-redis 5', behindSentinel(createSentinel)],
  ['createSentinel of node-redis 6', behindSentinel(createSentinel6 as unknown as typeof createSentinel)], // prettier-ignore
  ['createCluster of node-redis 5', ofCluster(createCluster)],
  ['createCluster of node-redis 6', ofCluster(createCluster6 as unknown as typeof createCluster)],
])('An application that closes its client, of %s,', (name, start) => {
  /** `redis` 5 has no event for the end of a Sentinel client: the connections of the store end at their next loss. */
  const isTold = name !== 'createSentinel of node-redis 5';
  const unhandled = jest.fn();
  let servers: Servers;
  let client: AppClient;
  let locks: LockService;
  let events: string[];

  beforeAll(async () => {
    process.on('unhandledRejection', unhandled);
    servers = await start();
  });

  beforeEach(async () => {
    client = servers.open();
    await client.connect();
    const store = new RedisLockStore(client);
    locks = new LockService(store, { ttl: 60_000, waitTimeout: 60_000, storeTimeout: 60_000 });
    events = [];
    for (const event of ['lost', 'releaseFailed'] as const)
      locks.events.on(event, () => void events.push(event));
    await locks.withLock('order:42', (lock) => lock.extend(60_000));
  });

  afterEach(async () => {
    servers.master.resume();
    await locks.close();
    await servers.master.command('DEL', KEY);
  });

  afterAll(async () => {
    await servers.stop();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  /** The client is closed while the server owes the answer to `call`. `redis` 5 needs it to connect a Sentinel client anew. */
  async function closeDuring<T>(how: 'close' | 'destroy', call: () => Promise<T>): Promise<T> {
    servers.master.pause();
    const result = call();
    result.catch(() => {});
    await new Promise((resolve) => setImmediate(resolve)); // it has been sent
    const closed = Promise.resolve(client[how]()).catch(() => undefined);
    if (!isTold) servers.master.resume();
    const outcome = await result.finally(() => servers.master.resume());
    await closed;
    return outcome;
  }

  describe.each(['destroy', 'close'] as const)('by %s,', (how) => {
    it('in the middle of an acquire, gets an error that says so, and so does each later call', async () => {
      const acquired = closeDuring(how, () => locks.acquire('order:42'));
      if (isTold) {
        await expect(acquired).rejects.toMatchObject(CLOSED);
        await expect(locks.tryAcquire('order:42')).rejects.toMatchObject(CLOSED);
      } else expect(await (await acquired).release()).toBe(true);
    });

    it('in the middle of an extension, gets an error that says so, and the lock is not lost yet', async () => {
      const lock = await locks.acquire('order:42');
      const extended = closeDuring(how, () => lock.extend(60_000));
      if (isTold) await expect(extended).rejects.toMatchObject(CLOSED);
      else await extended;
      expect(lock.isHeld).toBe(true);
      expect(await lock.release()).toBe(!isTold);
      expect(events).toEqual(isTold ? ['releaseFailed'] : []);
    });

    it('in the middle of a release, is told that it failed, and the lock is not lost', async () => {
      const lock = await locks.acquire('order:42');
      expect(await closeDuring(how, () => lock.release())).toBe(!isTold);
      expect(events).toEqual(isTold ? ['releaseFailed'] : []);
    });

    it('in the middle of the work of withLock, has its result', async () => {
      const work = async () => {
        await client[how]();
        return 'done';
      };
      expect(await locks.withLock('order:42', work)).toBe('done');
      expect(events).toEqual(isTold ? ['releaseFailed'] : []);
    });

    it('while a lock is held, has no connection for its messages any more', async () => {
      const lock = await locks.acquire('order:42', { ttl: 500 });
      const lost = aborted(lock.signal);
      await client[how]();
      if (isTold)
        await lost; // its extensions have failed
      else await lock.release();
      const channels = () => servers.master.command('PUBSUB', 'CHANNELS', 'holdfast:*');
      if (isTold) await until(async () => String(await channels()) === '', WITHIN);
    });

    it('while a call waits in the queue, gets an error that says so', async () => {
      await servers.master.command('SET', KEY, 'of another process', 'PX', 60_000);
      const waiting = locks.acquire('order:42');
      waiting.catch(() => {});
      const ask = (...words: [string, ...(string | number)[]]) => servers.master.command(...words);
      await until(async () => (await lineLength(ask, KEY)) === 1, WITHIN);
      await client[how]();
      if (isTold) return expect(waiting).rejects.toMatchObject(CLOSED);
      await servers.master.command('DEL', KEY);
      const lock: Lock = await waiting;
      expect(await lock.release()).toBe(true);
    });
  });
});
