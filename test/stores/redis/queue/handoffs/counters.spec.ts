import { Cluster } from 'ioredis';
import { LockService, RedisLockStore } from 'nest-holdfast';
import { RedisCluster } from '../../../../support/servers/redis-cluster.js';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { AppInstance, inLine, standing } from '../../../support/app-instance.js';
import { aRequest, disconnect, markOf } from '../../locks.js';

describe('What stays on the server while processes wait for each other', () => {
  let server: RedisServer;
  let processes: AppInstance[];

  beforeEach(async () => {
    server = await RedisServer.shared();
    processes = [1, 2].map(() => new AppInstance(server.url, { localPassLimit: 0 }));
  });

  afterEach(async () => {
    await Promise.all(processes.map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  it('is a counter that does not grow with the number of hand-offs', async () => {
    const length = async () => Number(await server.command('STRLEN', markOf('order:42')));
    const handOff = async (times: number) => {
      let held = await processes[0]!.locks.acquire('order:42');
      for (let index = 1; index <= times; index += 1) {
        const waiting = processes[index % 2]!.locks.acquire('order:42');
        await standing(server, 'order:42', 1);
        await held.release();
        held = await waiting;
      }
      const reached = await length();
      await held.release();
      return reached;
    };
    const few = await handOff(2);
    expect(await handOff(20)).toBe(few);
  });

  it('is no waiter that left before its request to enter the line had gone out', async () => {
    const held = await processes[0]!.locks.acquire('order:42');
    const { store } = processes[1]!;
    await standInLineOnce(store); // opens the channel
    const wait = new AbortController();
    const waiting = store.acquire!(aRequest('order:42'), wait.signal);
    await Promise.resolve();
    wait.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await processes[1]!.redis.ping();
    expect(await inLine(server, 'order:42')).toEqual([]);
    await held.release();
  });

  async function standInLineOnce(store: RedisLockStore): Promise<void> {
    const wait = new AbortController();
    const waiting = store.acquire!(aRequest('order:42'), wait.signal);
    await standing(server, 'order:42', 1);
    wait.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  }
});

it('Keys of one slot of a Cluster, taken one by one under one token, are extended each for itself', async () => {
  const cluster = await RedisCluster.start(1);
  const client = new Cluster(cluster.startupNodes);
  const locks = new LockService(new RedisLockStore(client), { ttl: 20_000 });
  const keys = ['{o}:1', '{o}:2', '{o}:3'];
  const lock = await locks.acquire(keys);
  const others = await Promise.all(['{o}:4', '{o}:5'].map((key) => locks.acquire(key)));
  await client.del('lock:{o}:4');
  const extended = [lock, ...others].map((each) => each.extend(60_000));
  const outcomes = (await Promise.allSettled(extended)).map(({ status }) => status);
  expect(outcomes).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  for (const key of keys) expect(await client.pttl(`lock:${key}`)).toBeGreaterThan(20_000);
  await locks.close();
  disconnect(client);
  await cluster.stop();
});
