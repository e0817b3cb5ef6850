import { randomUUID } from 'node:crypto';
import { LockService } from 'nest-holdfast';
import type { Connection } from '../../../../lib/stores/zookeeper/client/connection.js';
import { KeyNodes } from '../../../../lib/stores/zookeeper/names/key-nodes.js';
import { CreateMode } from '../../../../lib/stores/zookeeper/client/zookeeper-client.js';
import { ZooKeeperError } from '../../../../lib/stores/zookeeper/client/zookeeper-errors.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { ZooKeeperConsole } from '../client/console.js';
import { ZooKeeperStores, aRequest, noEnd } from '../stores.js';

const USER = 'app:secret';
const NO_AUTH = /NO_AUTH/;

describe('The nodes of ZooKeeperLockStore', () => {
  let zookeeper: ZooKeeperStores;
  let root = '';

  beforeAll(async () => {
    zookeeper = await ZooKeeperStores.startTidy();
  });

  beforeEach(() => {
    root = `/app/${randomUUID()}`;
  });

  afterEach(() => zookeeper.closeAll());

  afterAll(() => zookeeper[Symbol.asyncDispose]());

  function look(user?: string): ZooKeeperConsole {
    return new ZooKeeperConsole(zookeeper.server.url, user);
  }

  it('tell every reader the holders and the waiters, in order', async () => {
    await using console = look();
    const [a, b] = [zookeeper.open({ root }), zookeeper.open({ root })];
    const lease = (await a.tryAcquire({ ...aRequest('order:42'), holder: 'alpha:1:5' }))!;
    const waiting = b.acquire({ ...aRequest('order:42'), holder: 'beta:2:6' }, noEnd());
    await until(async () => (await zookeeper.line('order:42', root)).length === 2);
    const names = await zookeeper.line('order:42', root);
    const holders = names.map((name) => console.data(`${root}/order%3A42/${name}`));
    expect(await Promise.all(holders)).toEqual(['alpha:1:5', 'beta:2:6']);
    expect(names[0]).toMatch(/^[\da-f-]{36}-write-0000000000$/);
    const seen = { key: 'order:42', holder: 'alpha:1:5', fencingToken: lease.fencingToken };
    expect(await b.inspect('order:42')).toMatchObject(seen);
    await lease.release();
    await (await waiting).release();
    expect(await b.inspect('order:42')).toBeUndefined();
  });

  it('carry the process of a LockService, for any key', async () => {
    await using console = look();
    const locks = new LockService(zookeeper.open({ root }));
    const key = `/a//${'漢'.repeat(100)}/..'"\\u0000`;
    await locks.withLock(key, async () => {
      const [line] = await console.children(root);
      expect(decodeURIComponent(line!)).toBe(key);
      const [name] = await console.children(`${root}/${line}`);
      expect(await console.data(`${root}/${line}/${name}`)).toMatch(/^.+:\d+:\d+$/);
    });
  });

  it('leave no empty parents: the server removes them', async () => {
    await using console = look();
    const store = zookeeper.open({ root });
    const leases = await Promise.all(['a', 'b', 'c'].map((key) => store.tryAcquire(aRequest(key))));
    await leases[0]!.release();
    await until(async () => (await console.children(root)).length === 2);
    expect((await console.children(root)).toSorted()).toEqual(['b', 'c']);
    await Promise.all(leases.map((lease) => lease!.release()));
    await until(async () => (await console.children(root)).length === 0);
    expect(await (await store.tryAcquire(aRequest('a')))!.release()).toBe(true);
  });

  it('survive that the root is deleted while the store is idle', async () => {
    await using console = look();
    const store = zookeeper.open({ root });
    expect(await store.inspect('a')).toBeUndefined();
    expect(await (await store.tryAcquire(aRequest('a')))!.release()).toBe(true);
    await until(async () => (await console.children(root)).length === 0);
    await console.remove(root);
    expect(await (await store.tryAcquire(aRequest('a')))!.release()).toBe(true);
  });

  describe('with auth', () => {
    const auth = { scheme: 'digest', credential: USER };

    it('are open to the same user only, also after a reconnection', async () => {
      await using proxy = await TcpProxy.start(zookeeper.server.port);
      const a = zookeeper.open({ root: `${root}/x`, auth }, `127.0.0.1:${proxy.port}`);
      const b = zookeeper.open({ root: `${root}/x`, auth });
      const lease = (await a.tryAcquire(aRequest('order:42')))!;
      expect(await b.tryAcquire(aRequest('order:42'))).toBeUndefined();
      const stranger = zookeeper.open({ root: `${root}/x` });
      await expect(stranger.tryAcquire(aRequest('order:42'))).rejects.toThrow(NO_AUTH);
      await expect(stranger.inspect('order:42')).rejects.toThrow(NO_AUTH);
      await using thief = look();
      await using owner = look(USER);
      const path = `${root}/x/order%3A42`;
      await expect(thief.children(path)).rejects.toThrow(NO_AUTH);
      const [name] = await owner.children(path);
      await expect(thief.remove(`${path}/${name}`)).rejects.toThrow(NO_AUTH);
      const acl = await owner.acl(`${path}/${name}`);
      expect(acl).toMatchObject([{ permission: 31, id: { scheme: 'digest' } }]);
      proxy.cutAll();
      expect(await lease.release()).toBe(true);
      await a.close(); // before its proxy
    });

    it('may be readable for others, as the option says', async () => {
      await using console = look();
      const acl = [
        { scheme: 'auth', id: '', permissions: 'all' },
        { scheme: 'world', id: 'anyone', permissions: ['read'] },
      ] as const;
      const store = zookeeper.open({ root: `${root}/x`, auth, acl });
      const lease = (await store.tryAcquire(aRequest('a')))!;
      const [name] = await console.children(`${root}/x/a`);
      expect(await console.data(`${root}/x/a/${name}`)).toBe('host:1:2');
      await expect(console.remove(`${root}/x/a/${name}`)).rejects.toThrow(NO_AUTH);
      expect(await lease.release()).toBe(true);
    });

    it('of a scheme that the server does not know end the session with a clear error', async () => {
      const store = zookeeper.open({ root, auth: { scheme: 'nonsense', credential: 'x' } });
      const attempt = store.tryAcquire(aRequest('a'));
      await expect(attempt).rejects.toThrow(/the server refused auth/);
    });
  });
});

/** Answers as a server without containers. */
describe('KeyNodes on a server that is too old for containers', () => {
  it('are ordinary nodes, which the store removes when they are empty', async () => {
    const calls: string[] = [];
    const nodes = new Set(['/holdfast']);
    const refuse = (code: number, name: string, path: string) => {
      throw new ZooKeeperError(Object.assign(new Error(name), { code, name }), path);
    };
    const connection = {
      create: async (path: string, _data: Buffer, _acl: object[], mode: number) => {
        calls.push(`create ${path} ${mode}`);
        if (mode === CreateMode.container) refuse(-6, 'UNIMPLEMENTED', path);
        if (!nodes.has(path.slice(0, path.lastIndexOf('/')))) refuse(-101, 'NO_NODE', path);
        nodes.add(path);
        return path;
      },
      createAll: (paths: string[], data: Buffer, acl: object[], mode: number) =>
        Promise.all(paths.map((path) => connection.create(path, data, acl, mode))),
      remove: async (path: string) => {
        calls.push(`remove ${path}`);
        if ([...nodes].some((each) => each.startsWith(`${path}/`))) refuse(-111, 'NOT_EMPTY', path);
        return nodes.delete(path);
      },
    };
    const lines = new KeyNodes('/holdfast', []);
    const [path] = await lines.enter(connection as unknown as Connection, ['/holdfast/a/x'], Buffer.alloc(0)); // prettier-ignore
    expect(calls).toEqual([
      'create /holdfast/a/x 3',
      'create /holdfast/a 4',
      'create /holdfast/a/x 3',
      'create /holdfast/a 0',
      'create /holdfast/a/x 3',
    ]);
    await lines.tidy(connection as unknown as Connection, '/holdfast/a');
    expect(nodes).toContain('/holdfast/a');
    nodes.delete(path!);
    await lines.tidy(connection as unknown as Connection, '/holdfast/a');
    expect(nodes).toEqual(new Set(['/holdfast']));
  });
});
