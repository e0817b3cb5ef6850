import { LockService } from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';
import { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { aborted, inTime } from '../../../support/faults/in-time.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { ZooKeeperEnsemble } from '../../../support/servers/zookeeper-server.js';
import { ZooKeeperStores, aRequest, noEnd } from '../stores.js';

/** A machine that stands still for two seconds loses no session. */
const SESSION = 4_000;

/** A service, and what happened to its locks. */
function serviceOn(store: ZooKeeperLockStore) {
  const events: string[] = [];
  const locks = new LockService(store);
  for (const event of ['jeopardy', 'recovered', 'lost'] as const)
    locks.events.on(event, () => events.push(event));
  return { locks, events };
}

describe('The session of ZooKeeperLockStore', () => {
  let zookeeper: ZooKeeperStores;
  let keys = 0;
  let key = '';

  beforeAll(async () => {
    zookeeper = await ZooKeeperStores.start();
  });

  beforeEach(() => {
    key = `order:${(keys += 1)}`;
  });

  afterEach(() => zookeeper.closeAll());

  afterAll(() => zookeeper[Symbol.asyncDispose]());

  function remote(options: object = {}): ZooKeeperLockStore {
    return zookeeper.openRemote({ sessionTimeout: SESSION, ...options });
  }

  it('keeps a lock for longer than its timeout', async () => {
    const { locks, events } = serviceOn(remote());
    const lock = await locks.acquire(key);
    await new Promise((resolve) => setTimeout(resolve, 1.3 * SESSION));
    expect(await zookeeper.line(key)).toHaveLength(1);
    expect(lock.isHeld).toBe(true);
    expect(events).toEqual([]);
    expect(await lock.release()).toBe(true);
  });

  it('puts a lock into jeopardy when the connection is lost, and says when it is well again', async () => {
    const { locks, events } = serviceOn(remote());
    const lock = await locks.acquire(key);
    zookeeper.proxy.cutAll();
    await until(() => events.length === 2);
    expect(events).toEqual(['jeopardy', 'recovered']);
    expect(await lock.release()).toBe(true);
  });

  it('loses a lock by the local clock when the server answers nothing any more, before the server can', async () => {
    const clock = new FakeClock();
    const { locks, events } = serviceOn(remote({ clock }));
    const { signal } = await locks.acquire(key);
    zookeeper.proxy.replies.drop();
    zookeeper.proxy.requests.drop();
    for (let ms = 0; ms < SESSION; ms += 100) await clock.advance(100);
    expect(signal.aborted).toBe(true);
    expect(await zookeeper.line(key)).toHaveLength(1);
    expect(signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'session' });
    expect(events.at(0)).toBe('jeopardy');
    expect(events.at(-1)).toBe('lost');
    zookeeper.proxy.pass();
    const next = await locks.acquire(key); // in a new session, when the server has ended the old one
    expect(await next.release()).toBe(true);
  });

  it('tells at once that the server has ended it', async () => {
    const clock = new FakeClock(); // on which the timeout never passes
    const store = remote({ clock });
    const lease = (await store.tryAcquire(aRequest(key)))!;
    zookeeper.proxy.refuse();
    zookeeper.proxy.cutAll();
    await zookeeper.standing(key, 0);
    expect(lease.lost!.aborted).toBe(false);
    await zookeeper.proxy.accept();
    await aborted(lease.lost!);
    expect(String(lease.lost!.reason)).toContain('it has expired');
    expect(await lease.extend(1_000)).toBe(false);
    expect(await lease.release()).toBe(false);
    const next = (await store.tryAcquire(aRequest(key)))!;
    expect(next.fencingToken!).toBeGreaterThan(lease.fencingToken!);
    expect(await next.release()).toBe(true);
  });

  it('counts from before the last answered write was sent, less 1 % and 2 ms', async () => {
    const clock = new FakeClock();
    const lease = (await remote({ clock }).tryAcquire(aRequest(key)))!;
    zookeeper.proxy.requests.drop();
    await clock.advance(SESSION * 0.99 - 3);
    expect(lease.lost!.aborted).toBe(false);
    await clock.advance(1);
    expect(lease.lost!.aborted).toBe(true);
  });

  it('tells the truth after a blocked event loop, before any timer could run', async () => {
    const clock = new FakeClock();
    const { locks, events } = serviceOn(remote({ clock }));
    const lock = await locks.acquire(key);
    lock.assertHeld();
    clock.jump(SESSION);
    expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
    expect(lock.signal.aborted).toBe(true);
    await clock.advance(SESSION);
    expect(events).toEqual(['lost']);
    expect(await lock.release()).toBe(false);
  });

  it('is made anew for a store that was idle when the server ended it', async () => {
    const store = remote();
    expect(await (await store.tryAcquire(aRequest(key)))!.release()).toBe(true);
    const connections = () => zookeeper.metric('num_alive_connections');
    zookeeper.proxy.refuse();
    zookeeper.proxy.cutAll();
    await until(async () => (await zookeeper.metric('global_sessions')) === 0);
    await zookeeper.proxy.accept();
    expect(await (await store.tryAcquire(aRequest(key)))!.release()).toBe(true);
    await store.close();
    await until(async () => (await connections()) === 1); // the one that asks
  });

  it('ends with the store, and frees its locks at once', async () => {
    const store = zookeeper.open({ sessionTimeout: 60_000 });
    const lease = (await store.tryAcquire(aRequest(key)))!;
    await store.close();
    expect(lease.lost!.aborted).toBe(true);
    expect(await zookeeper.line(key)).toEqual([]);
    await expect(store.tryAcquire(aRequest(key))).rejects.toThrow('was closed');
    await store.close();
  });

  it('can be ended while many wait in it, who are told', async () => {
    const store = zookeeper.open({ sessionTimeout: 60_000 });
    await store.tryAcquire(aRequest(key));
    const waiting = Array.from({ length: 5 }, () => store.acquire(aRequest(key), noEnd()));
    const ended = Promise.allSettled(waiting);
    await zookeeper.standing(key, 6);
    await inTime(3_000, store.close());
    for (const { status } of await ended) expect(status).toBe('rejected');
  });

  it('can be ended while the server hangs', async () => {
    const store = zookeeper.open({ sessionTimeout: SESSION });
    await store.tryAcquire(aRequest(key));
    zookeeper.server.pause();
    await inTime(3_000, store.close());
  });

  it('is not waited for longer than connectTimeout, and the error names the servers', async () => {
    zookeeper.proxy.refuse();
    const store = remote({ connectTimeout: 100, sessionTimeout: 60_000 });
    const attempt = store.tryAcquire(aRequest(key));
    const message = `no connection to ZooKeeper at 127.0.0.1:${zookeeper.proxy.port} within 100 ms`;
    await expect(attempt).rejects.toThrow(message);
    const wait = store.acquire(aRequest(key), AbortSignal.abort(new Error('enough')));
    await expect(wait).rejects.toThrow('enough');
    await zookeeper.proxy.accept();
    const lease = await until(() => store.tryAcquire(aRequest(key)));
    expect(await lease.release()).toBe(true);
  });
});

describe('The session of ZooKeeperLockStore at an ensemble', () => {
  let ensemble: ZooKeeperEnsemble;
  let proxies: TcpProxy[];

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start(3);
    proxies = await Promise.all(ensemble.ports.map((port) => TcpProxy.start(port)));
  });

  afterEach(() => ensemble.resume());

  afterAll(async () => {
    await ensemble.stop();
    await Promise.all(proxies.map((each) => each.stop()));
  });

  it('moves to another member when its own one hangs, and keeps its locks', async () => {
    const servers = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const { locks, events } = serviceOn(new ZooKeeperLockStore(servers, { sessionTimeout: 9_000 }));
    const lock = await locks.acquire('order:42');
    const hung = proxies.find(({ connections }) => connections > 0)!;
    hung.requests.drop();
    hung.replies.drop();
    await until(() => events.includes('recovered'));
    expect(events).toEqual(['jeopardy', 'recovered']);
    expect(await lock.release()).toBe(true);
    await locks.close();
  });

  it('is not believed in on the word of a member that is cut off from the others', async () => {
    const leader = await ensemble.leader();
    const cutOff = ensemble.nodes.find((node) => node !== leader)!;
    const { locks } = serviceOn(new ZooKeeperLockStore(cutOff.url, { sessionTimeout: 1_000 }));
    const { signal } = await until(() => locks.acquire('order:43'));
    for (const node of ensemble.nodes) if (node !== cutOff) node.pause();
    await inTime(1_500, aborted(signal)); // it would answer reads and pings for two seconds
    ensemble.resume();
    await locks.close();
  });
});
