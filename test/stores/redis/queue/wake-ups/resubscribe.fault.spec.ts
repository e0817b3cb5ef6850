import { once } from 'node:events';
import type { RedisOptions } from 'ioredis';
import { rejectionOf } from '../../../../core/support/outcome.js';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { until } from '../../../../support/until.js';
import { CLIENTS, AppInstance, standing } from '../../../support/app-instance.js';

const SETTINGS: readonly [string, RedisOptions][] = [
  ['its defaults', {}],
  ['commandTimeout', { commandTimeout: 5_000 }],
  ['autoResubscribe: false', { autoResubscribe: false }],
];

// An unhandled rejection fails the test that runs.
describe.each(
  CLIENTS.flatMap(([name, Client]) =>
    SETTINGS.map(([what, client]) => [name, what, Client, client] as const),
  ),
)('With %s and %s, a store whose channel is forbidden later', (_, what, Client, settings) => {
  let server: RedisServer;
  let own: AppInstance;

  beforeEach(async () => {
    server = await RedisServer.start();
    await server.command('ACL', 'SETUSER', 'own', 'on', '>pw', '~*', '+@all', '&holdfast:*');
    const client = { username: 'own', password: 'pw', ...settings };
    own = new AppInstance(server.url, { Client, client });
    await server.command('SET', 'lock:order:42', 'somebody', 'PX', 60_000);
  });

  afterEach(async () => {
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  const channels = () => server.command('PUBSUB', 'CHANNELS', '*') as Promise<string[]>;

  async function forbidAndCut(): Promise<void> {
    await until(async () => (await channels()).length === 1);
    await server.command('ACL', 'SETUSER', 'own', 'resetchannels');
    const ready = once(own.redis, 'ready');
    await server.command('CLIENT', 'KILL', 'USER', 'own').catch(() => undefined); // Redis 7 has done so already
    await ready;
  }

  it('tells those who wait, and goes on', async () => {
    const waiting = rejectionOf(own.locks.acquire('order:42'));
    await standing(server, 'order:42', 1);
    await forbidAndCut();
    expect(await waiting).toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringMatching(/NOPERM.*channel/),
    });
    expect(await own.locks.withLock('order:43', async () => 'done')).toBe('done');
  });

  it('is woken again once it may', async () => {
    const first = rejectionOf(own.locks.acquire('order:42'));
    await standing(server, 'order:42', 1);
    await forbidAndCut();
    await first;
    await server.command('ACL', 'SETUSER', 'own', '&holdfast:*');
    const second = own.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    expect(await channels()).toHaveLength(1);
    await server.command('DEL', 'lock:order:42');
    await (await second).release();
  });

  it('has a second connection where ioredis would subscribe again by itself', async () => {
    const waiting = rejectionOf(own.locks.acquire('order:42', { waitTimeout: 300 }));
    await standing(server, 'order:42', 1);
    const list = String(await server.command('CLIENT', 'LIST'));
    const count = list.split('\n').filter((line) => line.includes('user=own')).length;
    const listensItself = what === 'autoResubscribe: false' && own.redis.options.protocol === 3;
    expect(count).toBe(listensItself ? 1 : 2);
    await waiting;
  });
});
