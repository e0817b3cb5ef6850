import { Redis as Redis5 } from 'ioredis5';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../../support/processes/tcp-proxy.js';
import { until } from '../../../../support/until.js';
import { CLIENTS, AppInstance, standing } from '../../../support/app-instance.js';

describe('A store that is woken on a second connection', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let holder: AppInstance;
  let own: AppInstance;
  let second: Redis5 | undefined;

  beforeEach(async () => {
    second = undefined;
    server = await RedisServer.shared();
    proxy = await TcpProxy.start(server.port);
    holder = new AppInstance(server.url);
  });

  afterEach(async () => {
    await proxy.accept();
    await Promise.all([holder, own].map((each) => each[Symbol.asyncDispose]()));
    await proxy.stop();
    await server.stop();
  });

  /** The second connection of `own` goes through the proxy. */
  function connect(): void {
    own = new AppInstance(server.url, { Client: CLIENTS[1][1] });
    const options = { retryStrategy: () => 20, maxRetriesPerRequest: null };
    Object.assign(own.redis, { duplicate: () => (second = new Redis5(proxy.url, options)) });
  }

  it('gets a free key while its second connection cannot be made again', async () => {
    connect();
    const held = await holder.locks.acquire('order:42');
    const waiting = own.locks.acquire('order:42', { waitTimeout: 3_000 });
    await standing(server, 'order:42', 1);
    proxy.refuse();
    proxy.cutAll();
    await held.release();
    await (await waiting).release();
  });

  it('listens to the errors of its second connection from the beginning', async () => {
    connect();
    proxy.refuse();
    const held = await holder.locks.acquire('order:42');
    const waiting = own.locks.acquire('order:42', { waitTimeout: 500 });
    const ended = expect(waiting).rejects.toMatchObject({ code: /^LOCK_/ });
    await until(() => second !== undefined);
    expect(second!.listenerCount('error')).toBe(1); // without one, ioredis prints each error
    await ended;
    await held.release();
  });

  it('gets a free key while its second connection cannot be made at all', async () => {
    connect();
    proxy.refuse();
    const held = await holder.locks.acquire('order:42');
    const waiting = own.locks.acquire('order:42', { waitTimeout: 3_000, storeTimeout: 500 });
    const ended = waiting.then((lock) => lock.release());
    await Promise.race([ended, until(() => second !== undefined)]);
    await held.release();
    expect(await ended).toBe(true);
  });

  it('waits also where the client has no queue for commands of its own', async () => {
    const client = { enableOfflineQueue: false };
    own = new AppInstance(server.url, { Client: CLIENTS[1][1], client });
    await new Promise((resolve) => own.redis.once('ready', resolve));
    const held = await holder.locks.acquire('order:42');
    const waiting = own.locks.acquire('order:42');
    const ended = waiting.then((lock) => lock.release());
    await Promise.race([ended, standing(server, 'order:42', 1)]);
    await held.release();
    expect(await ended).toBe(true);
  });

  it('passes its lock on inside the process while its second connection hangs', async () => {
    connect();
    proxy.replies.drop();
    const first = await own.locks.acquire('order:42');
    const next = own.locks.acquire('order:42');
    expect(await first.release()).toBe(true);
    expect(await (await next).release()).toBe(true);
    proxy.pass();
  });
});
