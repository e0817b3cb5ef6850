import { inTime } from '../../../../support/faults/in-time.js';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../../support/processes/tcp-proxy.js';
import { until } from '../../../../support/until.js';
import { CLIENTS, AppInstance, standing } from '../../../support/app-instance.js';
import { aRequest } from '../../locks.js';

/** A waiter gives a sign of life three times in this time, and looks for its key then. */
const HEARTBEAT = 2_000;

describe.each(CLIENTS)('A wake-up that never comes, with %s,', (_, Client) => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let holder: AppInstance;
  let waiter: AppInstance;

  beforeEach(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.start(server.port);
    holder = new AppInstance(server.url, { Client });
    waiter = new AppInstance(proxy.url, { Client });
  });

  afterEach(async () => {
    proxy.pass();
    await Promise.all([holder, waiter].map((each) => each[Symbol.asyncDispose]()));
    await proxy.stop();
    await server.stop();
  });

  const value = () => server.command('GET', 'lock:order:42');
  const killSubscribers = () => server.command('CLIENT', 'KILL', 'TYPE', 'pubsub');

  const subscribers = async () =>
    ((await server.command('PUBSUB', 'CHANNELS', 'holdfast:*')) as string[]).length;

  /** A process that stands in line. */
  async function wait(): Promise<Promise<{ release(): Promise<boolean> }>[]> {
    const waiting = waiter.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    return [waiting]; // in an array, for a promise would be awaited
  }

  /** Resolves after a sign of life of the waiter, when the next one is a third of the heartbeat away. */
  async function afterBeat(): Promise<void> {
    const { bytes } = proxy.requests;
    await until(() => proxy.requests.bytes > bytes);
    await waiter.redis.ping();
  }

  it('stalls no waiter when exactly that message is lost', async () => {
    const held = await holder.locks.acquire('order:42');
    const [waiting] = await wait();
    await afterBeat();
    const before = await value();
    const { bytes } = proxy.replies;
    proxy.replies.drop();
    await held.release();
    await until(() => proxy.replies.bytes > bytes);
    expect(await value()).not.toBe(before);
    proxy.replies.pass();

    const lock = await inTime(HEARTBEAT, waiting!);
    expect(Number(await server.command('PTTL', 'lock:order:42'))).toBeGreaterThan(20_000);
    expect(await lock.release()).toBe(true);
    expect(await value()).toBeNull();
  });

  it('stalls no waiter when every subscriber connection is cut while they wait', async () => {
    const held = await holder.locks.acquire('order:42');
    const [waiting] = await wait();
    await killSubscribers();
    await held.release();
    await (await inTime(HEARTBEAT, waiting!)).release();
  });

  it('stalls no waiter when the connections break after the key was handed off', async () => {
    const held = await holder.locks.acquire('order:42');
    const [waiting] = await wait();
    proxy.replies.hold();
    await held.release();
    proxy.cutAll();
    proxy.replies.pass();
    await (await inTime(HEARTBEAT, waiting!)).release();
  });

  it('is replaced by one that is heard, after a reconnect', async () => {
    const held = await holder.locks.acquire('order:42');
    const waiting = waiter.store.acquire!(aRequest('order:42'), new AbortController().signal);
    await standing(server, 'order:42', 1);
    await killSubscribers();
    await until(async () => (await subscribers()) === 0);
    await until(async () => (await subscribers()) === 1);
    await afterBeat();
    proxy.requests.hold(); // it cannot ask
    await held.release();
    const lease = await waiting;
    proxy.pass();
    expect(await lease.release()).toBe(true);
  });

  it('stalls no waiter when all data are flushed while they wait', async () => {
    await holder.locks.acquire('order:42');
    const [waiting] = await wait();
    await server.command('FLUSHALL');
    const lock = await inTime(HEARTBEAT, waiting!);
    expect(await lock.release()).toBe(true);
  });

  it.each([
    ['with a ttl', ['PX', 60_000]],
    ['without one', []],
  ])('stalls no waiter when a foreign holder %s deletes its key', async (_each, expiry) => {
    await server.command('SET', 'lock:order:42', 'foreign', 'NX', ...expiry);
    const [waiting] = await wait();
    await server.command('DEL', 'lock:order:42');
    await (await inTime(HEARTBEAT, waiting!)).release();
  });

  it('stalls no waiter when the key of a foreign holder expires', async () => {
    await server.command('SET', 'lock:order:42', 'foreign', 'NX', 'PX', 600_000);
    const [waiting] = await wait();
    await server.command('PEXPIRE', 'lock:order:42', 200);
    await (await inTime(HEARTBEAT, waiting!)).release();
  });
});
