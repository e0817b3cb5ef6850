import { LockService, RedisLockStore } from 'nest-holdfast';
import { createClient, createCluster } from 'redis';
import { createClient as createClient6, createCluster as createCluster6 } from 'redis6';
import { clusterSlot } from '../../../../lib/redis-client/cluster-slot.js';
import { nothingLeft } from '../../../support/faults/left-behind.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { RedisServer } from '../../../support/servers/redis-server.js';
import { until } from '../../../support/until.js';
import { ProxiedCluster } from '../cluster/proxied-cluster.js';

jest.setTimeout(120_000);

const WITHIN = { within: 60_000, every: 20 };
const UNKNOWN = expect.stringMatching(/^failed: the connection was lost meanwhile/);

type Client = ConstructorParameters<typeof RedisLockStore>[0];

/** One process, and the ends of its locks. */
class Process implements AsyncDisposable {
  readonly locks: LockService;
  readonly said: string[] = [];

  static async start(client: Client): Promise<Process> {
    const own = new Process(client);
    for (const key of ['warm-up', 'order:42', 'order:43']) await own.locks.withLock(key, () => {});
    own.said.splice(0);
    return own;
  }

  private constructor(client: Client) {
    this.locks = new LockService(new RedisLockStore(client), { ttl: 60_000, storeTimeout: 60_000 });
    const { events } = this.locks;
    events.on('lost', () => this.said.push('lost'));
    events.on('released', () => this.said.push('released'));
    events.on('releaseFailed', ({ error }) =>
      this.said.push(`failed: ${(error as Error).message}`),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.locks.close();
  }
}

describe.each([
  ['5', (url: string) => createClient({ url })],
  ['6', (url: string) => createClient6({ url })],
])('With node-redis %s, a release that finds nothing', (_, open) => {
  let server: RedisServer;
  let proxy: TcpProxy;
  let own: Process;

  beforeEach(async () => {
    server = await RedisServer.start();
    proxy = await TcpProxy.start(server.port);
    own = await Process.start(open(proxy.url));
  });

  afterEach(async () => {
    await own[Symbol.asyncDispose]();
    await proxy.stop();
    await server.stop();
  });

  const isFree = async () => (await server.command('EXISTS', 'lock:order:42')) === 0;

  function reconnect(): void {
    proxy.pass();
    proxy.cutAll();
  }

  it('was made, where its reply was lost and the server is the same as before', async () => {
    const lock = await own.locks.acquire('order:42');
    proxy.replies.drop();
    const released = lock.release();
    await until(isFree, WITHIN);
    reconnect();
    expect(await released).toBe(true);
    expect(own.said).toEqual(['released']);
    await nothingLeft(server);
  });

  it('is neither made nor a loss, where the server was started again', async () => {
    const lock = await own.locks.acquire('order:42');
    proxy.replies.drop();
    const released = lock.release();
    await until(isFree, WITHIN);
    await server.restart();
    reconnect();
    expect(await released).toBe(false);
    expect(own.said).toEqual(['released', UNKNOWN]);
  });

  it('is a loss, where no connection was lost: another client has deleted the key', async () => {
    const lock = await own.locks.acquire('order:42');
    await server.command('DEL', 'lock:order:42');
    expect(await lock.release()).toBe(false);
    expect(own.said).toEqual(['lost']);
  });

  it('leaves the result of the work alone at the end of withLock, where its reply was lost', async () => {
    let isDone = false;
    const work = own.locks.withLock(['order:42', 'customer:7'], async () => {
      proxy.replies.drop();
      isDone = true;
      return 'done';
    });
    await until(async () => isDone && (await isFree()), WITHIN);
    reconnect();
    expect(await work).toBe('done');
    expect(own.said).not.toContain('lost');
    await nothingLeft(server);
  });
});

describe.each([
  ['5', createCluster],
  ['6', createCluster6 as unknown as typeof createCluster],
])('On a Cluster with node-redis %s, a release', (_, create) => {
  let proxied: ProxiedCluster;
  let own: Process;

  beforeEach(async () => {
    proxied = await ProxiedCluster.start();
    own = await Process.start(create(proxied.nodeRedis));
  });

  afterEach(async () => {
    await own[Symbol.asyncDispose]();
    await proxied[Symbol.asyncDispose]();
  });

  async function nothingLeftAnywhere(): Promise<void> {
    for (const node of proxied.cluster.nodes) await nothingLeft(node);
  }

  it('whose reply was lost is neither made nor a loss, and the key is free', async () => {
    const lock = await own.locks.acquire('order:42');
    proxied.dropReplies();
    const released = lock.release();
    await until(async () => !(await proxied.isTaken('order:42')), WITHIN);
    proxied.reconnect();
    expect(await released).toBe(false);
    expect(own.said).toEqual(['released', UNKNOWN]);
    await own.locks.withLock('order:42', () => {});
    await nothingLeftAnywhere();
  });

  it('that did not arrive is sent on the next connection, and is made', async () => {
    const lock = await own.locks.acquire('order:42');
    for (const proxy of proxied.proxies) proxy.requests.drop();
    const released = lock.release();
    await new Promise((resolve) => setImmediate(resolve)); // it has been sent
    proxied.reconnect();
    expect(await released).toBe(true);
    expect(own.said).toEqual(['released']);
    await nothingLeftAnywhere();
  });

  it('of which the reply was lost leaves the result of the work alone at the end of withLock', async () => {
    let isDone = false;
    const work = own.locks.withLock('order:42', async () => {
      proxied.dropReplies();
      isDone = true;
      return 'done';
    });
    await until(async () => isDone && !(await proxied.isTaken('order:42')), WITHIN);
    proxied.reconnect();
    expect(await work).toBe('done');
    expect(own.said).not.toContain('lost');
    await nothingLeftAnywhere();
  });

  it('is a loss, where no connection was lost: another client has deleted the key', async () => {
    const lock = await own.locks.acquire('order:42');
    const [master] = await proxied.cluster.serving(clusterSlot('lock:order:42'));
    await master!.command('DEL', 'lock:order:42');
    expect(await lock.release()).toBe(false);
    expect(own.said).toEqual(['lost']);
  });
});
