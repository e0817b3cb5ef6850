import {
  LockService,
  type NodeRedisClient,
  RedisLockStore,
  type RedisLockStoreOptions,
} from 'nest-holdfast';
import { createClient } from 'redis';
import { createClient as createClient6 } from 'redis6';
import { NodeRedisPort } from '../../../../lib/redis-client/clients/node-redis/port.js';
import { ServerSource } from '../../../../lib/redis-client/clients/node-redis/source.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { until } from '../../../support/until.js';
import { standing } from '../../support/app-instance.js';

jest.setTimeout(120_000);

const WITHIN = { within: 60_000, every: 20 };

const CLIENTS = [
  ['node-redis 5', (url: string) => createClient({ url })],
  ['node-redis 6', (url: string) => createClient6({ url })],
] as const;

/** One process. Its client has no listener of errors: one that reached it would end the process. */
class Process implements AsyncDisposable {
  readonly locks: LockService;

  constructor(client: NodeRedisClient, options: RedisLockStoreOptions = {}) {
    this.locks = new LockService(new RedisLockStore(client, options), { ttl: 60_000 });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.locks.close();
  }
}

describe.each(CLIENTS)('The connection of a store beside a client of %s', (_, open) => {
  let server: RedisServer;
  let proxy: TcpProxy;

  beforeEach(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.start(server.port);
  });

  afterEach(async () => {
    await proxy.stop();
    await server.stop();
  });

  const isTaken = async (key: string) => (await server.command('EXISTS', `lock:${key}`)) === 1;

  async function connected(options?: RedisLockStoreOptions): Promise<Process> {
    const own = new Process(open(proxy.url), options);
    await own.locks.withLock('warm-up', async () => {});
    return own;
  }

  function reconnect(): void {
    proxy.pass();
    proxy.cutAll();
  }

  it('sends an acquire again whose reply was lost, which finds its own token and has won', async () => {
    await using own = await connected();
    proxy.replies.drop();
    const acquiring = own.locks.acquire('order:42');
    await until(() => isTaken('order:42'));
    reconnect();
    const lock = await acquiring;
    expect(await lock.release()).toBe(true);
    await nothingLeft(server);
  });

  it('sends a release again whose reply was lost, which is true, and no loss', async () => {
    await using own = await connected();
    const lost = jest.fn();
    own.locks.events.on('lost', lost);
    const lock = await own.locks.acquire('order:42');
    proxy.replies.drop();
    const released = lock.release();
    await until(async () => !(await isTaken('order:42')));
    reconnect();
    expect(await released).toBe(true);
    expect(lost).not.toHaveBeenCalled();
    await nothingLeft(server);
  });

  it('is given up when the server is silent, and what was not answered is sent on the next one', async () => {
    await using own = await connected({ silenceTimeout: 1_000 });
    const { accepted } = proxy;
    proxy.replies.drop();
    const acquiring = own.locks.acquire('order:42', { waitTimeout: 60_000, storeTimeout: 60_000 });
    await until(() => proxy.accepted > accepted, WITHIN);
    proxy.pass();
    expect(await (await acquiring).release()).toBe(true);
    await nothingLeft(server);
  });

  it('is given up when the server is silent while it connects', async () => {
    proxy.replies.drop();
    await using own = new Process(open(proxy.url), { silenceTimeout: 1_000 });
    const acquiring = own.locks.acquire('order:42', { waitTimeout: 60_000, storeTimeout: 60_000 });
    await until(() => proxy.accepted > 1, WITHIN);
    proxy.pass();
    expect(await (await acquiring).release()).toBe(true);
  });

  it('for waiting is made anew when it is half open, and the waiter gets its lock', async () => {
    await using own = await connected({ silenceTimeout: 1_000 });
    await using rival = new Process(open(server.url));
    const held = await rival.locks.acquire('order:42');
    const waiting = own.locks.acquire('order:42', { waitTimeout: 60_000, storeTimeout: 60_000 });
    await standing(server, 'order:42', 1);
    const { accepted } = proxy;
    proxy.replies.hold();
    await until(() => proxy.accepted >= accepted + 2, WITHIN);
    proxy.pass();
    await held.release();
    expect(await (await waiting).release()).toBe(true);
    await nothingLeft(server);
  });

  it('is made anew after an answer of a replica', async () => {
    await using own = await connected();
    const { accepted } = proxy;
    await server.command('REPLICAOF', '127.0.0.1', 1);
    const refused = own.locks.acquire('order:42', { waitTimeout: 0 });
    await expect(refused).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringContaining('READONLY'),
    });
    await until(() => proxy.accepted > accepted, WITHIN);
    await server.command('REPLICAOF', 'NO', 'ONE');
    await own.locks.withLock('order:42', async () => {});
  });

  it('tells why there is none, at once', async () => {
    await using own = await connected();
    proxy.refuse();
    proxy.cutAll();
    const refused = () => own.locks.tryAcquire('order:42').catch((error: unknown) => error);
    await until(async () => /ECONNREFUSED/.test(String(await refused())), WITHIN);
    const error = (await refused()) as Error;
    expect(error).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' });
    await proxy.accept();
    await until(() => own.locks.withLock('order:42', async () => true), WITHIN);
  });

  it('closes with the store while it connects', async () => {
    proxy.replies.drop();
    const own = new Process(open(proxy.url));
    const failed = expect(own.locks.acquire('order:42')).rejects.toMatchObject({ code: /^LOCK_/ });
    await until(() => proxy.connections > 0);
    await own.locks.close();
    await failed;
    await until(() => proxy.connections === 0, WITHIN);
  });

  it('is not tried again once the store was closed, and the client has no listener left', async () => {
    proxy.refuse();
    const client = open(proxy.url);
    const own = new Process(client);
    const failed = expect(own.locks.acquire('order:42')).rejects.toMatchObject({ code: /^LOCK_/ });
    await own.locks.close();
    await failed;
    await until(() => client.listenerCount('end') === 0, WITHIN);
  });
});

describe('A call of NodeRedisPort after close', () => {
  it('fails with the first attempt to connect, and leaves none behind', async () => {
    const client = createClient({ url: 'redis://127.0.0.1:1' });
    const port = new NodeRedisPort(new ServerSource(client));
    await port.close();
    await expect(port.time()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(port.status).toBe('wait');
    expect(client.listenerCount('end')).toBe(0);
  });
});
