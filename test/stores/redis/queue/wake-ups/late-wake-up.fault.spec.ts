import type { Lock } from 'nest-holdfast';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../../support/processes/tcp-proxy.js';
import { until } from '../../../../support/until.js';
import { ALL_CLIENTS, AppInstance, standing } from '../../../support/app-instance.js';

describe.each(ALL_CLIENTS)('A wake-up that comes when its claim is over, with %s,', (_, Client) => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let other: AppInstance;
  let waiter: AppInstance;
  let waiting: Promise<Lock>;
  let tokenBetween: bigint;

  const value = () => server.command('GET', 'lock:order:42');

  /** The waiter is cut off when it is handed the key. When the claim is over, another process has the key for a moment. */
  beforeEach(async () => {
    server = await RedisServer.shared();
    proxy = await TcpProxy.start(server.port);
    other = new AppInstance(server.url, { Client });
    waiter = new AppInstance(proxy.url, { Client });
    const held = await other.locks.acquire('order:42');
    waiting = waiter.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    const { bytes } = proxy.replies;
    proxy.replies.hold();
    proxy.requests.hold();
    await held.release();
    await until(() => proxy.replies.bytes > bytes);
    const between = await other.locks.acquire('order:42');
    tokenBetween = between.fencingToken;
    await between.release();
    expect(await value()).toBeNull();
  });

  afterEach(async () => {
    proxy.pass();
    await Promise.all([other, waiter].map((each) => each[Symbol.asyncDispose]()));
    await proxy.stop();
    await server.stop();
  });

  it('does not bring back its old fencing token', async () => {
    proxy.pass();
    const lock = await waiting;
    expect(await value()).not.toBeNull();
    expect(lock.fencingToken).toBeGreaterThan(tokenBetween);
    expect(await lock.release()).toBe(true);
  });
});
