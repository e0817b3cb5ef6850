import { connect } from 'node:net';
import { platform } from 'node:os';
import { Redis } from 'ioredis';
import { ChildProcess } from './processes/child-process.js';
import { RedisCluster } from './servers/redis-cluster.js';
import { startReplica } from './servers/redis-replica.js';
import { RedisServer } from './servers/redis-server.js';
import { TcpProxy } from './processes/tcp-proxy.js';
import { until } from './until.js';

describe('RedisServer', () => {
  it('answers on its port, survives a pause and forgets its data in a restart', async () => {
    await using server = await RedisServer.start();
    await server.command('SET', 'colour', 'red');

    server.pause();
    const answer = server.command('GET', 'colour');
    server.resume();
    expect(await answer).toBe('red');

    const { pid } = server;
    await server.restart();
    expect(server.pid).not.toBe(pid);
    expect(await server.command('GET', 'colour')).toBeNull();
  });

  it('refuses connections once it was killed', async () => {
    await using server = await RedisServer.start();
    await server.kill();
    await expect(server.command('PING')).rejects.toThrow();
  });

  it('has replicas that acknowledge a write', async () => {
    await using master = await RedisServer.start();
    await using replica = await startReplica(master);
    expect(await replica.command('CONFIG', 'GET', 'port')).toBeDefined();
    await using client = disposable(new Redis(master.url));
    await client.redis.set('colour', 'red');
    expect(await client.redis.wait(1, 5_000)).toBe(1);
  });
});

describe('RedisCluster', () => {
  it.each([1, 3])('serves every slot with %d master(s)', async (masters) => {
    await using cluster = await RedisCluster.start(masters);
    const client = new Redis.Cluster(cluster.startupNodes);
    try {
      const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
      await Promise.all(keys.map((key) => client.set(key, key)));
      expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys);
    } finally {
      client.disconnect();
    }
  });
});

describe('TcpProxy', () => {
  it('holds replies until told, then delivers them in order', async () => {
    await using server = await RedisServer.start();
    await using proxy = await TcpProxy.start(server.port);
    await using client = disposable(new Redis(proxy.url));
    await client.redis.ping();

    proxy.replies.hold();
    const replies: unknown[] = [];
    const sent = [1, 2, 3].map((n) => client.redis.incr('n').then(() => replies.push(n)));
    await until(async () => (await server.command('GET', 'n')) === '3');
    expect(replies).toEqual([]);

    proxy.pass();
    await Promise.all(sent);
    expect(replies).toEqual([1, 2, 3]);
    expect(proxy.connections).toBe(1);
    expect(proxy.requests.bytes).toBeGreaterThan(0);
  });

  it('delivers a held request although its client has gone', async () => {
    await using server = await RedisServer.start();
    await using proxy = await TcpProxy.start(server.port);
    await using client = disposable(new Redis(proxy.url));
    await client.redis.ping();

    proxy.requests.hold();
    const { bytes } = proxy.requests;
    client.redis.set('late', 'yes').catch(() => {});
    await until(() => proxy.requests.bytes > bytes);
    client.redis.disconnect();
    await until(() => proxy.connections === 0);

    proxy.pass();
    await until(async () => (await server.command('GET', 'late')) === 'yes');
  });

  it('delays replies', async () => {
    await using server = await RedisServer.start();
    await using proxy = await TcpProxy.start(server.port);
    await using client = disposable(new Redis(proxy.url));
    await client.redis.ping();
    proxy.replies.delay(80);
    const startedAt = performance.now();
    await client.redis.ping();
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(80);
  });

  it('cuts connections, refuses new ones and takes them again', async () => {
    await using server = await RedisServer.start();
    await using proxy = await TcpProxy.start(server.port);
    await using client = disposable(new Redis(proxy.url, { retryStrategy: () => 10 }));
    await client.redis.ping();

    const errors: string[] = [];
    client.redis.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code ?? ''));
    proxy.refuse();
    proxy.cutAll();
    await until(() => errors.includes('ECONNREFUSED'));

    await proxy.accept();
    expect(await client.redis.ping()).toBe('PONG');
    expect(proxy.accepted).toBe(2);
  });
});

describe('ChildProcess', () => {
  const worker = 'test/support/workers/echo.worker.ts';

  it('runs TypeScript and talks in messages', async () => {
    await using child = new ChildProcess<{ say: string }, { pid?: number; echo?: string }>(worker);
    expect(await child.next()).toEqual({ pid: child.pid });
    child.send({ say: 'hello' });
    expect(await child.next()).toEqual({ echo: 'hello' });
    expect(await child.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('tells what a process that failed has printed', async () => {
    await using child = new ChildProcess('test/support/no-such.worker.ts');
    await expect(child.next()).rejects.toThrow(/Cannot find module/);
  });
});

function disposable(redis: Redis): AsyncDisposable & { redis: Redis } {
  return {
    redis,
    async [Symbol.asyncDispose]() {
      if (redis.status !== 'end') redis.disconnect();
    },
  };
}

describe('A server of a Jest worker', () => {
  /** Linux alone can end the child of a process that was killed. */
  const signals: NodeJS.Signals[] = platform() === 'linux' ? ['SIGTERM', 'SIGKILL'] : ['SIGTERM'];

  it.each(signals)('ends with the worker when Jest sends it %s', async (signal) => {
    await using worker = new ChildProcess<never, number>('test/support/workers/servers.worker.ts');
    const port = await worker.next();
    expect(await answers(port)).toBe(true);
    await worker.kill(signal);
    await until(async () => !(await answers(port)), { what: 'the server to end' });
  });
});

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
