import type { Lock } from 'nest-holdfast';
import { TcpProxy } from '../../../../support/processes/tcp-proxy.js';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { until } from '../../../../support/until.js';
import { AppInstance, standing } from '../../../support/app-instance.js';

const KEY = 'order:42';
/** So many at once are gathered in one call. */
const others = Array.from({ length: 16 }, (_, index) => `other:${index}`);

describe('localPassLimit: 0, where the reply to a release and that to a heartbeat arrive together,', () => {
  let server: RedisServer;
  let proxy: TcpProxy;

  beforeEach(async () => {
    server = await RedisServer.start(); // its commands are counted
    proxy = await TcpProxy.start(server.port);
  });

  afterEach(async () => {
    proxy.pass();
    await proxy.stop();
    await server.stop();
  });

  async function scripts(): Promise<number> {
    const stats = String(await server.command('INFO', 'commandstats'));
    const calls = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
    return calls.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  it('the caller to which the release gave the lock has it, before the caller behind', async () => {
    await using own = new AppInstance(proxy.url, {
      localPassLimit: 0,
      silenceTimeout: 60_000,
      storeTimeout: 60_000,
    });
    const served: [string, Lock][] = [];
    const turn = (name: string) =>
      own.locks.withLock(KEY, async (lock) => {
        served.push([name, lock]);
        await lock.extend(30_000); // it is held at the server, too
      });
    const held = await own.locks.acquire(KEY);
    const turns = [turn('first')];
    await standing(server, KEY, 1);
    turns.push(turn('second'));
    await standing(server, KEY, 2);
    await Promise.all(others.map((key) => own.locks.acquire(key))); // the next call is gathered, too
    const before = await scripts();
    proxy.replies.hold();
    const released = held.release();
    await until(async () => (await scripts()) >= before + 2); // a heartbeat of both, too
    proxy.pass();
    expect(await released).toBe(true);
    await Promise.all(turns);
    expect(served.map(([name]) => name)).toEqual(['first', 'second']);
  });
});
