import { EtcdLockStore } from 'nest-holdfast/etcd';
import { EtcdServer } from '../../support/servers/etcd-server.js';
import { TcpProxy } from '../../support/processes/tcp-proxy.js';
import { until } from '../../support/until.js';
import { contentOf, put, remove } from './queue/content.js';
import { never, requestFor } from './client/requests.js';

describe('what an EtcdLockStore deletes', () => {
  let server: EtcdServer;
  let proxies: TcpProxy[];
  let store: EtcdLockStore;
  let key: string;
  let keys = 0;

  beforeAll(async () => {
    server = await EtcdServer.shared();
  });

  afterAll(() => server?.remove());

  beforeEach(async () => {
    key = `guard ${++keys}`;
    proxies = await Promise.all([1, 2].map(() => TcpProxy.start(server.port)));
    const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`);
    store = new EtcdLockStore({ hosts }, { sessionTimeout: 5_000 });
  });

  afterEach(async () => {
    await store.close();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  });

  /** The nodes of holders and waiters. */
  async function nodes(): Promise<string[]> {
    const names = (await contentOf(server)).map((entry) => entry.key);
    return names.filter((name) => !name.includes('%session'));
  }

  /** The way to the server that the store has chosen. */
  async function chosen(): Promise<TcpProxy> {
    const lease = await store.tryAcquire(requestFor('warm-up'));
    await lease!.release();
    return proxies.find(({ accepted }) => accepted > 0)!;
  }

  it('is not a node of the same name that a later grant made (etcd#22082)', async () => {
    const lease = await store.tryAcquire(requestFor(key));
    const [node] = await contentOf(server);
    await remove(server, node!.key);
    await put(server, node!.key, 'somebody:1:1');
    expect(await lease!.extend(1_000)).toBe(false);
    expect(await lease!.release()).toBe(false);
    expect((await contentOf(server)).map(({ value }) => value)).toEqual(['somebody:1:1']);
    await remove(server, node!.key);
  });

  it('are, of several keys, those nodes that are still its own', async () => {
    const lease = await store.tryAcquire(requestFor('a', { keys: ['a', 'b', 'c'] }));
    const [, node] = await contentOf(server);
    await remove(server, node!.key);
    expect(await lease!.extend(1_000)).toBe(false);
    expect(await lease!.release()).toBe(false);
    expect(await contentOf(server)).toEqual([]);
  });

  it('is a node whose creation was not confirmed, and one that is created late comes to nothing', async () => {
    const proxy = await chosen();
    proxy.requests.hold();
    const lease = await store.tryAcquire(requestFor(key)); // over the other way, after a while
    expect(lease).toBeDefined();
    expect(await lease!.release()).toBe(true);
    proxy.pass();
    await server.ask('/v3/kv/range', { key: 'AA==' }); // all earlier requests have been dealt with
    await until(() => proxy.connections === 0);
    expect(await nodes()).toEqual([]);
  });

  it.each(['requests', 'replies'] as const)(
    'is, sooner or later, what a failed attempt left: its %s were lost',
    async (way) => {
      await chosen();
      for (const proxy of proxies) proxy[way].drop();
      await expect(store.tryAcquire(requestFor(key))).rejects.toThrow();
      for (const proxy of proxies) proxy.pass();
      const other = new EtcdLockStore({ hosts: server.url });
      const lease = await until(() => other.tryAcquire(requestFor(key)));
      expect(lease.fencingToken).toBeGreaterThan(0n);
      await other.close();
    },
  );

  it.each(['requests', 'replies'] as const)(
    'is the lock of a release whose %s were lost, once etcd answers again',
    async (way) => {
      await chosen();
      const lease = await store.tryAcquire(requestFor(key));
      for (const proxy of proxies) proxy[way].drop();
      const released = lease!.release();
      await until(() => proxies.every(({ accepted }) => accepted > 0)); // both were tried
      for (const proxy of proxies) proxy.pass();
      expect(await released).toBe(true);
      expect(await nodes()).toEqual([]);
    },
  );

  it.each(['requests', 'replies'] as const)(
    'is the place of a wait that is given up while its %s are lost',
    async (way) => {
      await chosen();
      const other = new EtcdLockStore({ hosts: server.url });
      const held = await other.tryAcquire(requestFor(key));
      for (const proxy of proxies) proxy[way].drop();
      const stop = new AbortController();
      const waiting = store.acquire(requestFor(key), stop.signal);
      await until(() => proxies.every(({ accepted }) => accepted > 0));
      stop.abort(new Error('enough'));
      await expect(waiting).rejects.toThrow('enough');
      for (const proxy of proxies) proxy.pass();
      await held!.release();
      const next = await other.acquire(requestFor(key), never());
      await next.release();
      await until(async () => (await nodes()).length === 0);
      await other.close();
    },
  );
});
