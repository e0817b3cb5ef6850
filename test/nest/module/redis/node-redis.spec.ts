import { createClient } from 'redis';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { applicationOn } from './application-on.js';

describe('forRoot({ redis }) with a client of node-redis', () => {
  let server: RedisServer;

  beforeEach(async () => {
    server = await RedisServer.start();
  });

  afterEach(() => server.stop());

  const names = async () =>
    [...String(await server.command('CLIENT', 'LIST')).matchAll(/ name=(\S+)/g)].map(([, name]) => name); // prettier-ignore

  it('locks on connections of its own, and leaves the client as it was', async () => {
    const client = createClient({ url: server.url, name: 'app' });
    client.on('error', () => {});
    await client.connect();
    const { app, locks } = await applicationOn(client);
    const held = await locks.acquire('order:42');
    const waiting = locks.acquire('order:42', { waitTimeout: 60_000 });
    await until(async () => (await names()).length === 3);
    await held.release();
    expect(await (await waiting).release()).toBe(true);
    await app.close();
    await until(async () => (await names()).length === 1);
    expect(await client.ping()).toBe('PONG');
    client.destroy();
  });

  it('leaves the client able to tell listeners that come later', async () => {
    const client = await createClient({ url: server.url }).connect();
    const { app, locks } = await applicationOn(client);
    await locks.withLock('order:42', async () => {});
    await app.close();
    const ended = jest.fn();
    client.on('end', ended);
    client.destroy();
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('locks with one that was never connected, and does not connect it', async () => {
    const client = createClient({ url: server.url });
    const { app, locks } = await applicationOn(client);
    expect(await locks.withLock('order:42', async () => 'done')).toBe('done');
    expect(client.isOpen).toBe(false);
    await app.close();
  });

  it('closes one that a function made', async () => {
    const made: { isOpen: boolean }[] = [];
    const { app, locks } = await applicationOn(async () => {
      const client = await createClient({ url: server.url, name: 'made' }).connect();
      made.push(client);
      return client;
    });
    expect(await locks.withLock('order:42', async () => 'done')).toBe('done');
    await app.close();
    expect(made).toEqual([expect.objectContaining({ isOpen: false })]);
    await until(async () => (await names()).length === 0);
  });

  it('ends its connections with that of the client', async () => {
    const client = await createClient({ url: server.url, name: 'app' }).connect();
    const { app, locks } = await applicationOn(client);
    await locks.withLock('order:42', async () => {});
    client.destroy();
    await until(async () => (await names()).length === 0);
    await expect(locks.tryAcquire('order:42')).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      cause: expect.objectContaining({ message: 'the client was closed' }),
    });
    await app.close();
  });
});
