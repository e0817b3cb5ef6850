import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { leftBehind } from '../../../support/faults/left-behind.js';
import { CLIENTS, AppInstance, inLine, standing } from '../../support/app-instance.js';
import { aRequest, markOf } from '../locks.js';

describe.each(CLIENTS)('The line for a lock, with %s,', (_, Client) => {
  let server: RedisServer;
  let processes: AppInstance[];

  beforeEach(async () => {
    server = await RedisServer.shared();
    processes = Array.from({ length: 5 }, () => new AppInstance(server.url, { Client }));
  });

  afterEach(async () => {
    await Promise.all(processes.map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  it('keeps the order in which processes came', async () => {
    const held = await processes[0]!.locks.acquire('order:42');
    const order: number[] = [];
    const done: Promise<unknown>[] = [];
    for (const index of [3, 1, 4, 2]) {
      const work = async () => order.push(index);
      done.push(processes[index]!.locks.withLock('order:42', work));
      await standing(server, 'order:42', done.length);
    }
    await held.release();
    await Promise.all(done);
    expect(order).toEqual([3, 1, 4, 2]);
  });

  it('gives larger fencing tokens with every pass, hand-off and claim', async () => {
    const tokens: bigint[] = [];
    const cycles = processes.flatMap(({ locks, redis }) =>
      Array.from({ length: 20 }, () =>
        locks.withLock('order:42', async ({ fencingToken }) => {
          tokens.push(fencingToken);
          await redis.ping(); // others come into line meanwhile
        }),
      ),
    );
    await Promise.all(cycles);
    expect(tokens).toHaveLength(100);
    tokens.reduce((before, token) => {
      expect(token).toBeGreaterThan(before);
      return token;
    });
  });

  it('gives larger fencing tokens also after all data were flushed', async () => {
    const [holder, waiter] = processes as [AppInstance, AppInstance];
    const { fencingToken } = await holder.locks.acquire('order:42');
    const waiting = waiter.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    await server.command('FLUSHALL');
    expect((await waiting).fencingToken).toBeGreaterThan(fencingToken);
  });

  it('comes before those who only try', async () => {
    const [first, second] = processes as [AppInstance, AppInstance];
    await server.command('SET', 'lock:order:42', 'foreign');
    const waiting = first.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    await server.command('DEL', 'lock:order:42');
    expect(await second.locks.tryAcquire('order:42')).toBeUndefined();
    await (await waiting).release();
    await (await second.locks.tryAcquire('order:42'))!.release();
  });

  it('comes before those who want several keys at once', async () => {
    const [first, second] = processes as [AppInstance, AppInstance];
    await server.command('SET', 'lock:order:42', 'foreign');
    const waiting = first.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    await server.command('DEL', 'lock:order:42');
    expect(await second.locks.tryAcquire(['order:42', 'customer:7'])).toBeUndefined();
    expect(await server.command('EXISTS', 'lock:customer:7')).toBe(0);
    await (await waiting).release();
  });

  it('leaves a lock without waiters one plain string, and its counter', async () => {
    const [own] = processes as [AppInstance];
    const lock = await own.locks.acquire('order:42');
    const keys = (await server.command('KEYS', '*')) as string[];
    expect(keys.toSorted()).toEqual(['lock:order:42', markOf('order:42')]);
    expect(await server.command('TYPE', 'lock:order:42')).toBe('string');
    expect(await server.command('TTL', markOf('order:42'))).toBeGreaterThan(0);
    await lock.release();
    expect(await leftBehind(server)).toEqual([]);
  });

  it('ends by itself where no waiter sends a heartbeat', async () => {
    const [own] = processes as [AppInstance];
    await server.command('SET', 'lock:order:42', 'foreign');
    const waiting = own.store.acquire!(aRequest('order:42'), new AbortController().signal);
    waiting.catch(() => {});
    await standing(server, 'order:42', 1);
    expect(Number(await server.command('PTTL', '{lock:order:42}:line'))).toBeGreaterThan(0);
    own.redis.disconnect();
    await until(async () => (await inLine(server, 'order:42')).length === 0);
    expect(await leftBehind(server)).toEqual(['lock:order:42']);
  });
});
