import { LeaderElection } from 'nest-holdfast';
import { rejectionOf } from '../core/support/outcome.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { CLIENTS, QueueProcess, standing } from './queue-process.js';

jest.setTimeout(60_000);

describe.each(CLIENTS)('Who waits on a Redis that hangs, with %s,', (_, Client) => {
  let server: RedisServer;
  let own: QueueProcess;

  beforeEach(async () => {
    server = await RedisServer.start();
    own = new QueueProcess(server.url, { Client, storeTimeout: 300 });
    await server.command('SET', 'lock:order:42', 'somebody', 'PX', 60_000);
  });

  afterEach(async () => {
    server.resume();
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  it('is told that the store fails, and not that the key is held', async () => {
    const waiting = rejectionOf(own.locks.acquire('order:42'));
    await standing(server, 'order:42', 1);
    server.pause();
    expect(await waiting).toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringMatching(/no answer within 300 ms/),
    });
  });

  it('is told so also at the end of a wait that is too short to give the store up', async () => {
    const waiting = rejectionOf(own.locks.acquire('order:42', { waitTimeout: 1_200 }));
    await standing(server, 'order:42', 1);
    server.pause();
    expect(await waiting).toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });

  it('is told that the key is held, when the server goes on in time', async () => {
    const waiting = rejectionOf(
      own.locks.acquire('order:42', { waitTimeout: 10_000, storeTimeout: 3_000 }),
    );
    await standing(server, 'order:42', 1);
    server.pause();
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // longer than a beat
    server.resume();
    expect(await waiting).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });

  it('hears of it as a candidate for leadership', async () => {
    await server.command('SET', 'lock:leader:x', 'somebody', 'PX', 60_000);
    const election = new LeaderElection(own.locks, 'x', { storeTimeout: 300 });
    const failed = jest.fn();
    election.events.on('failed', failed);
    election.start();
    await standing(server, 'leader:x', 1);
    server.pause();
    await until(() => failed.mock.calls.length > 0, { within: 20_000, what: 'the event "failed"' });
    server.resume();
    await election.stop();
  });
});

describe.each(CLIENTS)('The second connection, with %s,', (_, Client) => {
  it('may take longer to be made than a command may take', async () => {
    await using server = await RedisServer.start();
    await using proxy = await TcpProxy.start(server.port);
    proxy.replies.delay(300);
    const client = { commandTimeout: 1_000 };
    await using own = new QueueProcess(proxy.url, { Client, client });
    await using holder = new QueueProcess(server.url);
    await until(() => own.redis.status === 'ready');
    const held = await holder.locks.acquire('order:42');
    const waiting = own.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    await held.release();
    expect(await (await waiting).release()).toBe(true);
  });

  it('costs no tenure its time where the server takes no more clients', async () => {
    await using server = await RedisServer.start();
    await using own = new QueueProcess(server.url, { Client, ttl: 60_000, localPassLimit: 1 });
    await own.locks.withLock('warm-up', async () => {});
    await own.redis.config('SET', 'maxclients', '1');
    const since = performance.now();
    for (let tenure = 0; tenure < 30; tenure++) {
      const first = await own.locks.acquire('order:42');
      const next = own.locks.acquire('order:42');
      await first.release();
      await (await next).release();
    }
    expect(performance.now() - since).toBeLessThan(30 * 250); // half of what each had to wait
  });
});
