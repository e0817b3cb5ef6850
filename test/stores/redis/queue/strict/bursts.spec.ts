import { BEAT } from '../../../../../lib/stores/redis/lua/pace.js';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { leftBehind } from '../../../../support/faults/left-behind.js';
import { AppInstance, inLine, standing } from '../../../support/app-instance.js';

const KEY = 'order:42';

/** Commands of scripts that a server has run. */
async function calls(server: RedisServer): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'));
  const counts = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

describe('localPassLimit: 0, many callers of few processes,', () => {
  let server: RedisServer;
  let a: AppInstance;
  let b: AppInstance;

  beforeEach(async () => {
    server = await RedisServer.start(); // its commands are counted
    [a, b] = [0, 1].map(() => new AppInstance(server.url, { localPassLimit: 0 })) as [
      AppInstance,
      AppInstance,
    ];
    for (const { locks } of [a, b]) {
      const held = await locks.acquire('warm');
      const waiting = locks.acquire('warm');
      await standing(server, 'warm', 1);
      await held.release();
      await (await waiting).release();
    }
  });

  afterEach(async () => {
    await Promise.all([a, b].map((each) => each[Symbol.asyncDispose]()));
    await server.stop();
  });

  it('stand in the order in which they asked, though the calls of a process leave together', async () => {
    const held = await a.locks.acquire(KEY);
    const asked: string[] = [];
    const served: string[] = [];
    const done = Array.from({ length: 10 }, (_each, index) => {
      const end = performance.now() + 50; // within one turn of the event loop, and far apart for a busy machine
      while (performance.now() < end);
      const name = `${index % 2 ? 'a' : 'b'}${index}`;
      asked.push(name);
      return (index % 2 ? a : b).locks.withLock(KEY, async () => void served.push(name));
    });
    await standing(server, KEY, 10);
    await held.release();
    await Promise.all(done);
    expect(served).toEqual(asked);
    expect(await leftBehind(server)).toEqual([]);
  });

  it('enter with few commands, and pass the lock on within their process with one each', async () => {
    const held = await a.locks.acquire(KEY);
    const before = await calls(server);
    const since = performance.now();
    const heartbeats = () => Math.ceil((performance.now() - since) / BEAT); // one call for all places, where it takes long
    const done = Array.from({ length: 50 }, () => a.locks.withLock(KEY, async () => {}));
    await standing(server, KEY, 50);
    expect((await calls(server)) - before).toBeLessThanOrEqual(2 + heartbeats());
    await held.release();
    await Promise.all(done);
    expect((await calls(server)) - before).toBeLessThanOrEqual(2 + 51 + heartbeats());
  });

  it('get a ttl of their own, and larger tokens, when the lock is passed on within their process', async () => {
    const held = await a.locks.acquire(KEY, { ttl: 5_000 });
    const waiting = [20_000, 30_000].map((ttl) => a.locks.acquire(KEY, { ttl }));
    await standing(server, KEY, 2);
    await held.release();
    const second = await waiting[0]!;
    expect(Number(await server.command('PTTL', `lock:${KEY}`))).toBeGreaterThan(15_000);
    expect(second.remaining).toBeLessThanOrEqual(20_000);
    expect(second.fencingToken).toBeGreaterThan(held.fencingToken);
    await second.release();
    const third = await waiting[1]!;
    expect(Number(await server.command('PTTL', `lock:${KEY}`))).toBeGreaterThan(25_000);
    expect(third.fencingToken).toBeGreaterThan(second.fencingToken);
    await third.release();
    expect(await leftBehind(server)).toEqual([]);
  });

  it('are passed over where a place has been left without a word', async () => {
    const held = await a.locks.acquire(KEY);
    const done = [0, 1].map(() => a.locks.acquire(KEY));
    await standing(server, KEY, 2);
    const [first] = await inLine(server, KEY);
    const stranger = first!.value.replace(/^([^.]*)\..*$/, '$1.stranger:host:1:2');
    await server.command('ZADD', `{lock:${KEY}}:line`, 1, `1000 ${stranger}`);
    await server.command('ZADD', `{lock:${KEY}}:line`, Date.now() + 60_000, `@1000 ${stranger}`);
    await held.release();
    for (const each of done) await (await each).release();
    expect(await leftBehind(server)).toEqual([]);
  });
});
