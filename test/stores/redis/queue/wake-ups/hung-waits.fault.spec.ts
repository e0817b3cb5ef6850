import { LeaderElection } from 'nest-holdfast';
import { rejectionOf } from '../../../../core/support/outcome.js';
import { RedisServer } from '../../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../../support/processes/tcp-proxy.js';
import { until } from '../../../../support/until.js';
import { lineKey } from '../../../../support/redis-line.js';
import { CLIENTS, AppInstance, standing } from '../../../support/app-instance.js';

/** Milliseconds: a busy machine answers within. */
const STORE_TIMEOUT = 2_000;

describe.each(CLIENTS)('Who waits on a Redis that hangs, with %s,', (_, Client) => {
  let server: RedisServer;
  let own: AppInstance;

  beforeEach(async () => {
    server = await RedisServer.start();
    own = new AppInstance(server.url, { Client, storeTimeout: STORE_TIMEOUT });
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
      message: expect.stringMatching(/no answer within 2000 ms/),
    });
  });

  it('is told so also at the end of a wait that is too short to give the store up', async () => {
    const waiting = rejectionOf(own.locks.acquire('order:42', { waitTimeout: 4 * STORE_TIMEOUT }));
    await standing(server, 'order:42', 1);
    server.pause();
    expect(await waiting).toMatchObject({ code: 'LOCK_STORE_FAILED' });
  });

  it('is told so behind a caller of its own process', async () => {
    const front = rejectionOf(own.locks.acquire('order:42', { waitTimeout: 60_000, storeTimeout: 30_000 })); // prettier-ignore
    await standing(server, 'order:42', 1);
    const behind = rejectionOf(own.locks.acquire('order:42', { waitTimeout: 2_500 }));
    server.pause();
    expect(await behind).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    own.locks.endWaits();
    await front;
  });

  it('is told so also far back in a long line, where the next sign of life is long after the end of the wait', async () => {
    await manyInFront(200);
    const waiting = rejectionOf(
      own.locks.acquire('order:42', { waitTimeout: 5_000, storeTimeout: 4_000 }),
    );
    await standing(server, 'order:42', 201);
    server.pause();
    expect(await waiting).toMatchObject({
      code: 'LOCK_STORE_FAILED',
      message: expect.stringMatching(/no answer within \d+ ms/),
    });
  });

  it('is told that the key is held far back in a long line of a server that answers', async () => {
    await manyInFront(200);
    const waiting = own.locks.acquire('order:42', { waitTimeout: 2_000, storeTimeout: 4_000 });
    expect(await rejectionOf(waiting)).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });

  /** Waiters that the server takes for alive for another minute without a heartbeat. */
  async function manyInFront(count: number): Promise<void> {
    const lapses = Date.now() + 60_000;
    const members = Array.from({ length: count }, (_each, index) => {
      const entry = `1000 other.${index}:host:1:2`;
      return [index + 1, entry, lapses, `@${entry}`];
    });
    await server.command('ZADD', lineKey('lock:order:42'), ...members.flat());
  }

  it('is told that the key is held, when the server goes on in time', async () => {
    const waiting = rejectionOf(
      own.locks.acquire('order:42', { waitTimeout: 15_000, storeTimeout: 10_000 }),
    );
    await standing(server, 'order:42', 1);
    server.pause();
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // longer than a beat
    server.resume();
    expect(await waiting).toMatchObject({ code: 'LOCK_TIMEOUT' });
  });

  it('hears of it as a candidate for leadership', async () => {
    await server.command('SET', 'lock:leader:x', 'somebody', 'PX', 60_000);
    const election = new LeaderElection(own.locks, 'x', { storeTimeout: STORE_TIMEOUT });
    const failed = jest.fn();
    election.events.on('failed', failed);
    election.start();
    await standing(server, 'leader:x', 1);
    server.pause();
    await until(() => failed.mock.calls.length > 0, { within: 60_000, what: 'the event "failed"' });
    server.resume();
    await election.stop();
  });
});

describe.each(CLIENTS)('The second connection, with %s,', (_, Client) => {
  it('may take longer to be made than a command may take', async () => {
    await using server = await RedisServer.start();
    await using proxy = await TcpProxy.start(server.port);
    proxy.replies.delay(800);
    const client = { commandTimeout: 2_000 }; // one answer is in time, and not the three that it takes
    await using own = new AppInstance(proxy.url, { Client, client });
    await using holder = new AppInstance(server.url);
    await until(() => own.redis.status === 'ready');
    const held = await holder.locks.acquire('order:42');
    const waiting = own.locks.acquire('order:42');
    await standing(server, 'order:42', 1);
    await held.release();
    expect(await (await waiting).release()).toBe(true);
  });

  it('costs no hold its time where the server takes no more clients', async () => {
    await using server = await RedisServer.start();
    await using own = new AppInstance(server.url, { Client, ttl: 60_000, localPassLimit: 1 });
    await own.locks.withLock('warm-up', async () => {});
    await own.redis.config('SET', 'maxclients', '1');
    const since = performance.now();
    for (let hold = 0; hold < 30; hold++) {
      const first = await own.locks.acquire('order:42');
      const next = own.locks.acquire('order:42');
      await first.release();
      await (await next).release();
    }
    expect(performance.now() - since).toBeLessThan(30 * 400); // each had to wait 500
  });
});
