import { RedisLocks } from '../locks.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';

describe('When the reply of a command is lost', () => {
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
  const isFree = async (key: string) => !(await isTaken(key));

  async function connected(options: ConstructorParameters<typeof RedisLocks>[1] = {}) {
    const own = new RedisLocks(proxy.url, options);
    await own.locks.withLock('warm-up', async () => {});
    return own;
  }

  it('an acquire that is sent again after a reconnect finds its own token and has won', async () => {
    await using own = await connected();
    proxy.replies.drop();
    const acquiring = own.locks.acquire('order:42');
    await until(() => isTaken('order:42'));
    proxy.pass();
    proxy.cutAll();
    const lock = await acquiring;
    expect(lock.isHeld).toBe(true);
    expect(await lock.release()).toBe(true);
    await nothingLeft(server);
  });

  it('an acquire that was given up is taken back as soon as the connection is', async () => {
    await using own = await connected();
    proxy.replies.drop();
    const acquiring = own.locks.acquire('order:42', { waitTimeout: 200 });
    await expect(acquiring).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    await until(() => isTaken('order:42'));
    proxy.pass();
    proxy.cutAll();
    await nothingLeft(server);
    expect(await own.locks.withLock('order:42', async () => 'free')).toBe('free');
  });

  it('an acquire of a client that gives up at once is taken back', async () => {
    await using own = await connected({ client: { maxRetriesPerRequest: 0 } });
    proxy.replies.drop();
    const failed = expect(own.locks.acquire('order:42')).rejects.toMatchObject({
      code: 'LOCK_STORE_FAILED',
      cause: expect.any(Error),
    });
    await until(() => isTaken('order:42'));
    proxy.pass();
    proxy.cutAll();
    await failed;
    await nothingLeft(server);
  });

  it.each([
    ['never comes back', { retryStrategy: () => null }],
    ['forgets what was not answered', { autoResendUnfulfilledCommands: false }],
  ])(
    'an acquire of a client that %s ends in time, and the ttl frees its key',
    async (_, client) => {
      await using own = await connected({ client, ttl: 6_000, waitTimeout: 300 });
      proxy.replies.drop();
      const failed = expect(own.locks.acquire('order:42')).rejects.toMatchObject({
        code: 'LOCK_STORE_FAILED',
      });
      await until(() => isTaken('order:42'));
      proxy.pass();
      proxy.cutAll();
      await failed;
      await nothingLeft(server);
    },
  );

  it('a release that is sent again after a reconnect is true, and no loss', async () => {
    await using own = await connected();
    const lost = jest.fn();
    own.locks.events.on('lost', lost);
    const lock = await own.locks.acquire('order:42');
    proxy.replies.drop();
    const released = lock.release();
    await until(() => isFree('order:42'));
    proxy.pass();
    proxy.cutAll();
    expect(await released).toBe(true);
    expect(lost).not.toHaveBeenCalled();
    await nothingLeft(server);
  });

  it('a release at the end of withLock leaves the result of the work alone', async () => {
    await using own = await connected();
    let isDone = false;
    const work = own.locks.withLock(['order:42', 'customer:7'], async () => {
      proxy.replies.drop();
      isDone = true;
      return 'done';
    });
    await until(async () => isDone && (await isFree('order:42')));
    proxy.pass();
    proxy.cutAll();
    expect(await work).toBe('done');
    await nothingLeft(server);
  });

  it('a release without an answer resolves false in time, and the work is a success', async () => {
    await using own = await connected({ storeTimeout: 3_000 });
    const failures: unknown[] = [];
    own.locks.events.on('releaseFailed', ({ error }) => failures.push(error));
    const work = own.locks.withLock('order:42', async () => {
      proxy.replies.drop();
      return 'done';
    });
    expect(await work).toBe('done');
    expect(failures).toEqual([expect.objectContaining({ name: 'StoreTimeout' })]);
    await nothingLeft(server);
    proxy.pass();
    proxy.cutAll();
  });

  it('an extension is made again while validity remains, and the lock recovers', async () => {
    await using own = await connected({ ttl: 9_000, storeTimeout: 2_000 });
    const events: string[] = [];
    for (const name of ['jeopardy', 'recovered', 'lost'] as const) {
      own.locks.events.on(name, () => events.push(name));
    }
    const lock = await own.locks.acquire('order:42');
    proxy.replies.drop();
    await until(() => events.includes('jeopardy'));
    proxy.pass();
    proxy.cutAll();
    await until(() => events.includes('recovered'));
    expect(events.at(-1)).toBe('recovered');
    expect(await lock.release()).toBe(true);
    expect(events).not.toContain('lost');
  });

  it('extensions that hang do not delay the signal beyond the ttl', async () => {
    await using own = await connected({ ttl: 4_000 });
    const lock = await own.locks.acquire('order:42');
    const freed = new Promise<void>((resolve) => setTimeout(resolve, 4_000));
    proxy.replies.hold();
    await Promise.race([freed, until(() => lock.signal.aborted)]);
    expect(lock.signal.aborted).toBe(true);
    proxy.pass();
    await nothingLeft(server);
  });
});
