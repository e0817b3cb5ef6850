import { RedisServer } from '../../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../../support/processes/tcp-proxy.js';
import { until } from '../../../../support/until.js';
import { nothingLeft } from '../../../../support/faults/left-behind.js';
import { AppInstance, inLine, standing } from '../../../support/app-instance.js';

const KEY = 'order:42';

describe('localPassLimit: 0, where the reply to a release is lost that gave the lock to the next caller of the process,', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let far: AppInstance;

  beforeEach(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.start(server.port);
    far = new AppInstance(proxy.url, { localPassLimit: 0 });
    await Promise.all([1, 2].map(() => far.locks.withLock('warm-up', async () => {})));
  });

  afterEach(async () => {
    proxy.pass();
    await far[Symbol.asyncDispose]();
    await proxy.stop();
    await server.stop();
  });

  async function releaseWithoutReply(signal?: AbortSignal) {
    const held = await far.locks.acquire(KEY);
    const first = far.locks.acquire(KEY, { signal });
    await standing(server, KEY, 1);
    const second = far.locks.acquire(KEY);
    await standing(server, KEY, 2);
    proxy.replies.drop();
    const released = held.release();
    await until(async () => (await inLine(server, KEY)).length === 1);
    return { released, first, second };
  }

  function reconnect(): void {
    proxy.pass();
    proxy.cutAll();
  }

  it('both have it in their order, and the holder is told of no loss', async () => {
    const { released, first, second } = await releaseWithoutReply();
    reconnect();
    expect(await released).toBe(true);
    const lock = await first;
    expect(lock.isHeld).toBe(true);
    await lock.release();
    await (await second).release();
    await nothingLeft(server);
  });

  it('a next caller that has given up meanwhile keeps it from no other', async () => {
    const stopper = new AbortController();
    const { released, first, second } = await releaseWithoutReply(stopper.signal);
    stopper.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    reconnect();
    expect(await released).toBe(true);
    await (await second).release();
    await nothingLeft(server);
  });
});
