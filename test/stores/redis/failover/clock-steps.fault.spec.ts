import { once } from 'node:events';
import { Cluster } from 'ioredis';
import { type Lock, LockService, RedisLockStore } from 'nest-holdfast';
import { RedisCluster } from '../../../support/servers/redis-cluster.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { RedisLocks, disconnect } from '../locks.js';

interface Timed {
  time(): Promise<unknown>;
}

/** The time that the server reports from now on. Its own clock stays: setting that would set the whole machine. */
class SetClock {
  readonly asked: jest.SpyInstance;
  #by = 0;

  constructor(client: Timed) {
    const time = client.time.bind(client);
    this.asked = jest.spyOn(client, 'time').mockImplementation(async () => {
      const [seconds, micros] = (await time()) as [number | string, number | string];
      return [Number(seconds) + this.#by, Number(micros)];
    });
  }

  set(seconds: number): void {
    this.#by += seconds;
  }

  /** Resolves once so many more questions were asked. */
  async read(times: number): Promise<void> {
    const before = this.asked.mock.calls.length;
    await until(() => this.asked.mock.calls.length >= before + times);
    await this.asked.mock.results.at(-1)!.value;
  }
}

const jeopardy = ({ events }: LockService) =>
  once(events, 'jeopardy') as Promise<[{ key: string; error: Error }]>;
const isSure = (lock: Lock) => lock.isHeld && lock.remaining > 50_000;

afterEach(() => jest.restoreAllMocks());

describe('When the clock of a Redis server is set', () => {
  it.each([
    ['forward', 30],
    ['back', -30],
  ])('%s, its locks are in doubt, and extended at once', async (direction, seconds) => {
    const server = await RedisServer.shared();
    await using own = new RedisLocks(server.url, { ttl: 60_000 });
    const clock = new SetClock(own.redis);
    const locks = [
      await own.locks.acquire('order:42'),
      await own.locks.acquire('page', { mode: 'read' }),
    ];
    await clock.read(2);
    await server.command('PEXPIRE', 'lock:order:42', 40_000); // as if the rest of it had passed
    const doubted = jeopardy(own.locks);
    clock.set(seconds);
    const [{ error }] = await doubted;
    const by = Number(/was set (?:forward|back) by (\d+) ms/.exec(error.message)?.[1]);
    expect(error.message).toContain(direction);
    expect(by).toBeGreaterThan(25_000);
    expect(by).toBeLessThan(35_000);
    await until(async () => ((await server.command('PTTL', 'lock:order:42')) as number) > 50_000);
    expect(locks.every(isSure)).toBe(true);
    await server.stop();
  });

  it('and a lock has ended by it, its holder is told', async () => {
    const server = await RedisServer.shared();
    await using own = new RedisLocks(server.url, { ttl: 60_000 });
    const clock = new SetClock(own.redis);
    const lock = await own.locks.acquire('order:42');
    await clock.read(2);
    await server.command('DEL', 'lock:order:42');
    clock.set(90);
    await until(() => !lock.isHeld);
    expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ reason: 'gone' }));
    await server.stop();
  });

  it('of a master of a Cluster, the locks in its slots are', async () => {
    const cluster = await RedisCluster.shared();
    const redis = new Cluster(cluster.startupNodes);
    const locks = new LockService(new RedisLockStore(redis), { ttl: 60_000 });
    const keys = Array.from({ length: 20 }, (_, index) => `order:${index}`);
    await Promise.all(keys.map((key) => locks.acquire(key)));
    const doubted: string[] = [];
    locks.events.on('jeopardy', ({ key }) => doubted.push(key));
    const [node] = redis.nodes('master');
    const clock = new SetClock(node!);
    await clock.read(2);
    clock.set(30);
    await until(() => doubted.length > 0);
    const { port } = node!.options;
    const own = await cluster.nodes.find((each) => each.port === port)!.command('KEYS', 'lock:*');
    expect(doubted.map((key) => `lock:${key}`).toSorted()).toEqual((own as string[]).toSorted());
    await locks.close();
    disconnect(redis);
    await cluster.stop();
  });
});

it('A server that forbids the question for its time is asked once', async () => {
  const server = await RedisServer.shared();
  await using other = new RedisLocks(server.url, { ttl: 60_000 });
  await using own = new RedisLocks(server.url, { ttl: 60_000 });
  const times = [other, own].map(({ redis }) => jest.spyOn(redis, 'time'));
  await Promise.all([other, own].map(({ redis }) => redis.info())); // the commands of a new connection come first
  times[1]!.mockRejectedValue(new Error("NOPERM User locks has no permissions to run the 'time'"));
  for (const time of times) time.mockClear();
  await Promise.all([other, own].map(({ locks }, index) => locks.acquire(`order:${index}`)));
  await until(() => times[0]!.mock.calls.length >= 3);
  expect(times[1]).toHaveBeenCalledTimes(1);
  await server.stop();
});
