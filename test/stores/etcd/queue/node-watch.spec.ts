import { LockService } from 'nest-holdfast';
import type { Lease } from 'nest-holdfast';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { aborted, inTime } from '../../../support/faults/in-time.js';
import { EtcdServer } from '../../../support/servers/etcd-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { compact, contentOf, metric, put, remove } from './content.js';
import { never, requestFor } from '../client/requests.js';
import {
  LONG_BEFORE_A_BEAT,
  SESSION,
  isTold,
  itIsToldOfItsNode,
} from '../../support/watched-holder.js';

const WATCHERS = 'etcd_debugging_mvcc_watcher_total';

describe('A holder at etcd', () => {
  let server: EtcdServer;
  let proxy: TcpProxy;
  let stores: EtcdLockStore[];
  let key: string;
  let keys = 0;

  beforeAll(async () => {
    server = await EtcdServer.shared();
    proxy = await TcpProxy.start(server.port);
  });

  afterAll(async () => {
    await proxy?.stop();
    await server?.remove();
  });

  beforeEach(() => {
    stores = [];
    key = `order:${++keys}`;
  });

  afterEach(async () => {
    await proxy.accept();
    await Promise.all(stores.map((store) => store.close()));
  });

  function open(options: object = SESSION): EtcdLockStore {
    const store = new EtcdLockStore({ hosts: `127.0.0.1:${proxy.port}` }, options);
    stores.push(store);
    return store;
  }

  async function hold(all: readonly string[] = [key], permits?: number): Promise<Lease> {
    return (await open().tryAcquire(requestFor(key, { keys: all, permits })))!;
  }

  /** Resolves when so many nodes are watched. */
  async function watching(count: number): Promise<void> {
    const isMet = async () => (await metric(server, WATCHERS)) === count;
    await until(isMet, { what: `${count} watches` });
  }

  async function nodes(of = key): Promise<string[]> {
    const all = (await contentOf(server)).map((each) => each.key);
    return all.filter((each) => each.startsWith(`holdfast/${encodeURIComponent(of)}/`));
  }

  async function sessionOf(of = key): Promise<string> {
    const [first] = await nodes(of);
    return (await contentOf(server)).find((each) => each.key === first)!.lease;
  }

  async function removeNode(of = key): Promise<void> {
    await remove(server, (await nodes(of))[0]!);
  }

  itIsToldOfItsNode({ hold, watching, nodes, removeNode }, () => key);

  it('is told when it had waited for its lock', async () => {
    const first = await hold();
    const waiting = open().acquire(requestFor(key), never());
    await watching(2);
    await first.release();
    const second = await waiting;
    await removeNode();
    await isTold(second);
  });

  it('is told when it has become a reader meanwhile, which is no loss', async () => {
    const lease = await hold();
    await watching(1);
    expect(await lease.downgrade!()).toBe(true);
    await put(server, 'another', '1');
    expect(lease.lost!.aborted).toBe(false);
    await removeNode();
    await isTold(lease);
  });

  it('is told of what happened while it was cut off, though all of that was compacted away', async () => {
    const lease = await hold();
    await watching(1);
    proxy.refuse();
    proxy.cutAll();
    await removeNode();
    await put(server, 'another', '2');
    await compact(server);
    await proxy.accept();
    await isTold(lease);
  });

  it('holds on when it was cut off and nothing happened, and watches again', async () => {
    const lease = await hold();
    await watching(1);
    proxy.refuse();
    proxy.cutAll();
    await put(server, 'another', '3');
    await compact(server);
    await watching(0);
    await proxy.accept();
    await watching(1);
    expect(lease.lost!.aborted).toBe(false);
    await removeNode();
    await isTold(lease);
  });

  it('is told when etcd takes back the session, long before a beat, as is every other one of it', async () => {
    const store = open();
    const leases = await Promise.all(
      ['a', 'b'].map((each) => store.tryAcquire(requestFor(`${key}-${each}`))),
    );
    await watching(2);
    const session = await sessionOf(`${key}-a`);
    await server.ask('/v3/lease/revoke', { ID: session });
    for (const lease of leases) await inTime(LONG_BEFORE_A_BEAT, aborted(lease!.lost!));
    const next = await store.tryAcquire(requestFor(key)); // by a session of its own
    expect(await sessionOf()).not.toBe(session);
    expect(await next!.release()).toBe(true);
  });

  it('leaves no watch when it releases its lock', async () => {
    const lease = await hold();
    await watching(1);
    expect(await lease.release()).toBe(true);
    await watching(0);
  });

  it('hears of it as a loss of the lock', async () => {
    const locks = new LockService(open());
    const lock = await locks.acquire(key);
    await watching(1);
    await removeNode();
    await inTime(LONG_BEFORE_A_BEAT, aborted(lock.signal));
    expect(lock.isHeld).toBe(false);
    await locks.close();
  });
});

describe('Prefixes at etcd', () => {
  let server: EtcdServer;
  let stores: EtcdLockStore[];

  beforeAll(async () => {
    server = await EtcdServer.shared();
  });

  afterAll(() => server?.remove());

  beforeEach(() => (stores = []));

  afterEach(() => Promise.all(stores.map((store) => store.close())));

  function open(prefix: string): EtcdLockStore {
    const store = new EtcdLockStore({ hosts: server.url }, { prefix });
    stores.push(store);
    return store;
  }

  it.each([
    ['locks/', 'acme', 'locks/acme/', 'order:1'],
    ['locks/', '@', 'locks/%40/', 'order:1'],
    ['', 'locks', 'locks/', 'acme'],
    ['locks/', 'a', 'locks', 'a/b'],
    ['locks', 'acme', 'lock', 'sacme'],
    ['locks/', 'acme', 'locks/ac', 'me'],
  ])('keep locks apart: %p with %p and %p with %p', async (outer, one, inner, other) => {
    const [outside, inside] = [open(outer), open(inner)];
    const held = [await inside.tryAcquire(requestFor(other))];
    expect(await outside.inspect(one)).toBeUndefined();
    held.push(await outside.tryAcquire(requestFor(one)));
    for (const lease of held) expect(await lease?.release()).toBe(true);
    held.splice(0, 2, await outside.acquire(requestFor(one), never()));
    expect(await inside.inspect(other)).toBeUndefined();
    held.push(await inside.tryAcquire(requestFor(other)));
    for (const lease of held) expect(await lease?.release()).toBe(true);
  });

  it('are one with and without the / at their end', async () => {
    const lease = await open('locks').tryAcquire(requestFor('acme'));
    expect(await open('locks/').tryAcquire(requestFor('acme'))).toBeUndefined();
    expect(await lease!.release()).toBe(true);
  });
});
