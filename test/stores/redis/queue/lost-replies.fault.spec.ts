import { ALL_CLIENTS, AppInstance, inLine, standing } from '../../support/app-instance.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { markOf } from '../locks.js';
import { until } from '../../../support/until.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';

const REASON = new Error('the client went away');

describe.each(ALL_CLIENTS)('While a caller waits, with %s, a lost reply', (_, Client) => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let far: AppInstance;
  let near: AppInstance;

  beforeEach(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.start(server.port);
    far = new AppInstance(proxy.url, { Client });
    near = new AppInstance(server.url, { Client });
    const warmUp = () => far.locks.withLock('warm-up', (lock) => lock.extend(30_000));
    await Promise.all([warmUp(), warmUp()]); // the server knows the scripts
  });

  afterEach(async () => {
    proxy.pass();
    await Promise.all([far, near].map((each) => each[Symbol.asyncDispose]()));
    await proxy.stop();
    await server.stop();
  });

  function reconnect(): void {
    proxy.pass();
    proxy.cutAll();
  }

  it('to one who stands in line leaves it there', async () => {
    const held = await near.locks.acquire('order:42');
    const waiting = far.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    proxy.replies.drop();
    const { bytes } = proxy.replies;
    await until(() => proxy.replies.bytes > bytes); // of its next sign of life
    reconnect();
    await standing(server, 'order:42', 1);
    await held.release();
    expect(await (await waiting).release()).toBe(true);
    await nothingLeft(server);
  });

  it('to one who turns its claim into a lock costs it nothing', async () => {
    const held = await near.locks.acquire('order:42');
    const waiting = far.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    proxy.requests.hold();
    const { bytes } = proxy.requests;
    await held.release();
    await until(() => proxy.requests.bytes > bytes);
    proxy.replies.drop();
    proxy.requests.pass();
    const isExtended = async () => Number(await server.command('PTTL', 'lock:order:42')) > 2_000;
    await until(isExtended);
    reconnect();
    expect(await (await waiting).release()).toBe(true);
    await nothingLeft(server);
  });

  it('to a waiter that leaves the line leaves nothing there', async () => {
    const held = await near.locks.acquire('order:42');
    const cancel = new AbortController();
    const waiting = far.locks.acquire('order:42', { signal: cancel.signal });
    await standing(server, 'order:42', 1);
    proxy.replies.drop();
    cancel.abort(REASON);
    await expect(waiting).rejects.toBe(REASON);
    await standing(server, 'order:42', 0);
    reconnect();
    expect(await held.release()).toBe(true);
    expect(await near.locks.withLock('order:42', async () => 'free')).toBe('free');
    await nothingLeft(server);
  });

  it('to one who passes its lock on inside the process leaves it held', async () => {
    const pass = async () => {};
    await Promise.all([1, 2].map(() => far.locks.withLock('warm-up', pass))); // opens the channel
    const held = await far.locks.acquire('order:42');
    const { fencingToken } = held;
    const waiting = far.locks.acquire('order:42');
    const counter = () => server.command('GET', markOf('order:42'));
    const before = await counter();
    proxy.replies.drop();
    const released = held.release();
    await until(async () => (await counter()) !== before);
    reconnect();
    expect(await released).toBe(true);
    const lock = await waiting;
    expect(lock.fencingToken).toBeGreaterThan(fencingToken);
    expect(await lock.release()).toBe(true);
  });

  it('to one who gives its key back as another asks for several keys is no loss', async () => {
    let next!: Promise<string>;
    const work = far.locks.withLock('order:42', async () => {
      next = far.locks.withLock(['order:42', 'order:43'], async () => 'next');
      proxy.replies.drop();
      return 'done';
    });
    await until(async () => (await server.command('EXISTS', 'lock:order:43')) === 1);
    reconnect();
    expect(await work).toBe('done');
    expect(await next).toBe('next');
    await nothingLeft(server);
  });

  it('to one who gives its key back does not turn its work into a loss', async () => {
    let isOver = false;
    const work = far.locks.withLock('order:42', async () => {
      near.locks.acquire('order:42').catch(() => {});
      await standing(server, 'order:42', 1);
      proxy.replies.drop();
      isOver = true;
      return 'done';
    });
    await until(async () => isOver && (await inLine(server, 'order:42')).length === 0);
    reconnect();
    expect(await work).toBe('done');
  });
});
