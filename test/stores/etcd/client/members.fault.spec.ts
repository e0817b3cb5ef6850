import type { Lease } from 'nest-holdfast';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { contentOf, metric } from '../queue/content.js';
import { never, requestFor } from './requests.js';
import { EtcdCluster, type EtcdServer } from '../../../support/servers/etcd-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { aborted, inTime } from '../../../support/faults/in-time.js';

/** Longer than an election, and what comes before it, on a busy machine. */
const SESSION = 10_000;
const SHORT_SESSION = 4_000;
const WATCHERS = 'etcd_debugging_mvcc_watcher_total';

/** Faults that one member shows as well as three are in `etcd.spec.ts`. */
/** Holders do not watch here, so that only the waiters' watches are counted. */
jest.mock('../../../../lib/stores/kit/watch-delay.js', () => ({ WATCH_AFTER: Infinity }));

describe('three members of etcd', () => {
  let cluster: EtcdCluster;
  let proxies: TcpProxy[];
  let stores: EtcdLockStore[];

  beforeAll(async () => {
    cluster = await EtcdCluster.start();
    proxies = await Promise.all(cluster.ports.map((port) => TcpProxy.start(port)));
  });

  afterAll(async () => {
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await cluster?.stop();
  });

  beforeEach(() => {
    stores = [];
  });

  afterEach(async () => {
    cluster.resume();
    const killed = cluster.nodes.filter(({ pid }) => pid === undefined);
    await Promise.all(killed.map((node) => node.restart()));
    await Promise.all(stores.map((store) => store.close()));
    const nothing = async () => (await contentOf(await cluster.leader())).length === 0;
    await until(nothing, { within: 2 * SESSION, every: 50 });
  });

  function open(hosts: readonly string[] = cluster.urls, sessionTimeout = SESSION): EtcdLockStore {
    const store = new EtcdLockStore({ hosts }, { sessionTimeout });
    stores.push(store);
    return store;
  }

  /** The members that have watches. */
  async function watched(): Promise<EtcdServer[]> {
    const counts = await Promise.all(cluster.nodes.map((node) => metric(node, WATCHERS)));
    return cluster.nodes.flatMap((node, index) => Array<EtcdServer>(counts[index]!).fill(node));
  }

  interface Line {
    readonly lease: Lease;
    readonly waits: readonly Promise<Lease>[];
  }

  /** A holder of the key, and callers that wait for it in this order, each a process of its own. */
  async function line(waiters: number, hosts = cluster.urls, session = SESSION): Promise<Line> {
    const lease = await open(hosts, session).tryAcquire(requestFor('key'));
    const waits: Promise<Lease>[] = [];
    while (waits.length < waiters) {
      waits.push(open(hosts, session).acquire(requestFor('key'), never()));
      await until(async () => (await watched()).length === waits.length, { what: 'it to watch' });
    }
    return { lease: lease!, waits };
  }

  /** The lock is still held, is freed, and all waiters get it in turn. */
  async function goesOn({ lease, waits }: Line): Promise<void> {
    const granted: Promise<Lease>[] = [];
    for (const wait of waits) void wait.then(() => granted.push(wait));
    expect(await inTime(SESSION, held(lease))).toBe(true);
    let last = lease;
    for (const [index, wait] of waits.entries()) {
      expect(granted).toHaveLength(index);
      expect(await inTime(SESSION, last.release())).toBe(true);
      const next = await inTime(SESSION, wait);
      expect(next.lost!.aborted).toBe(false);
      expect(next.fencingToken).toBeGreaterThan(last.fencingToken!);
      last = next;
    }
    expect(await inTime(SESSION, held(last))).toBe(true);
    expect(await inTime(SESSION, last.release())).toBe(true);
  }

  it.each([
    ['hangs', async (member: EtcdServer) => member.pause()],
    ['is killed', (member: EtcdServer) => member.kill()],
  ])('one %s: those who hold and wait there go on at another one', async (_, fail) => {
    const among = await line(1);
    const [member] = await watched();
    await fail(member!);
    await goesOn(among);
  });

  it('the leader is killed: the lock is held, freed, and all waiters get it in turn', async () => {
    const among = await line(2);
    const leader = await cluster.leader();
    await leader.kill();
    expect(await cluster.leader()).not.toBe(leader);
    await goesOn(among);
  });

  it('all are killed and come back: the lock is held, freed, and all waiters get it in turn', async () => {
    const among = await line(2);
    await cluster.restart();
    await goesOn(among);
  });

  it('all are killed and come back during a release: it is done', async () => {
    const { lease, waits } = await line(1);
    cluster.pause();
    const released = lease.release();
    await cluster.restart();
    expect(await inTime(SESSION, released)).toBe(true);
    expect(await (await inTime(SESSION, waits[0]!)).release()).toBe(true);
  });

  it('cut every connection: those who hold and wait connect again', async () => {
    const among = await line(
      1,
      proxies.map(({ port }) => `127.0.0.1:${port}`),
    );
    for (const proxy of proxies) proxy.cutAll();
    await goesOn(among);
  });

  it('are no majority any more: a lock is lost in time, no caller gets it; then all goes on', async () => {
    const [holder, other] = [1, 2].map(() => open(cluster.urls, SHORT_SESSION));
    const lease = await holder!.tryAcquire(requestFor('key'));
    const waiting = other!.acquire(requestFor('key'), never());
    await until(async () => (await watched()).length === 1);
    const killed = cluster.nodes.slice(1);
    await Promise.all(killed.map((member) => member.kill()));
    await Promise.all([
      inTime(2 * SHORT_SESSION, aborted(lease!.lost!)),
      expect(holder!.tryAcquire(requestFor('another'))).rejects.toThrow(),
    ]);
    await Promise.all(killed.map((member) => member.restart()));
    const next = await inTime(2 * SESSION, waiting);
    expect(next.fencingToken).toBeGreaterThan(lease!.fencingToken!);
    expect(await next.release()).toBe(true);
  });
});

/** Asks until it is told. */
function held(lease: Lease): Promise<boolean> {
  return until(async () => ({ isHeld: await lease.extend(1) }), { within: SESSION }).then(
    ({ isHeld }) => isHeld && !lease.lost!.aborted,
  );
}
