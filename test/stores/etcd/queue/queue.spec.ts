import type { Lease } from 'nest-holdfast';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { EtcdServer } from '../../../support/servers/etcd-server.js';
import { until } from '../../../support/until.js';
import { contentOf, metric, remove } from './content.js';
import { never, requestFor } from '../client/requests.js';

/** Milliseconds. A waiter of that age would look again, and its requests would count. */
const SESSION = 300_000;
const EVENTS = 'etcd_debugging_mvcc_events_total';
const WATCHERS = 'etcd_debugging_mvcc_watcher_total';
const TRANSACTIONS =
  'grpc_server_msg_received_total{grpc_method="Txn",grpc_service="etcdserverpb.KV",grpc_type="unary"}';

/** Holders do not watch here, so that only the waiters' watches are counted. */
jest.mock('../../../../lib/stores/kit/watch-delay.js', () => ({ WATCH_AFTER: Infinity }));

describe('the queue of an EtcdLockStore', () => {
  let server: EtcdServer;
  let stores: EtcdLockStore[];
  let key: string;
  let keys = 0;

  beforeAll(async () => {
    server = await EtcdServer.shared();
  });

  afterAll(() => server?.remove());

  beforeEach(() => {
    stores = [];
    key = `queue ${++keys}`;
  });

  afterEach(() => Promise.all(stores.map((store) => store.close())));

  function open(): EtcdLockStore {
    const store = new EtcdLockStore({ hosts: server.url }, { sessionTimeout: SESSION });
    stores.push(store);
    return store;
  }

  async function hold(): Promise<Lease> {
    const lease = await open().tryAcquire(requestFor(key));
    expect(lease).toBeDefined();
    return lease!;
  }

  /** Resolves once it watches. The promise of the lease is in an array, so that it is not awaited. */
  async function waiter(store = open(), signal = never()): Promise<[Promise<Lease>]> {
    const before = await metric(server, WATCHERS);
    const waiting = store.acquire(requestFor(key), signal);
    waiting.catch(() => undefined); // awaited later
    await until(async () => (await metric(server, WATCHERS)) > before, { what: 'it to watch' });
    return [waiting];
  }

  it('of 50 waiters, each release wakes exactly one, in the order of arrival', async () => {
    const granted: number[] = [];
    const first = await hold();
    const waits = Array.from({ length: 50 }, () => open().acquire(requestFor(key), never()));
    const leases = waits.map(async (wait, index) => {
      const lease = await wait;
      granted.push(index);
      return lease;
    });
    await until(async () => (await metric(server, WATCHERS)) === 50, { what: 'all to watch' });
    const order = new Map(leases.map((lease, index) => [index, lease]));
    let events = await metric(server, EVENTS);
    const transactions = await metric(server, TRANSACTIONS);
    let last = first;
    for (let turn = 0; turn < 50; turn++) {
      expect(await last.release()).toBe(true);
      await until(() => granted.length === turn + 1, { what: 'the next one to be granted' });
      const next = await order.get(granted[turn]!)!;
      expect(next.fencingToken).toBeGreaterThan(last.fencingToken!);
      expect((await metric(server, EVENTS)) - events).toBe(1);
      events += 1;
      last = next;
    }
    // One leaves and one looks, each time, and each may have looked once more as it began to watch: a herd would be 1,225.
    expect((await metric(server, TRANSACTIONS)) - transactions).toBeLessThanOrEqual(3 * 50);
    await last.release();
  });

  it('one whose predecessor leaves waits for the one before it, and has no lock', async () => {
    const first = await hold();
    const stop = new AbortController();
    const [second] = await waiter(open(), stop.signal);
    const [third] = await waiter();
    let isGranted = false;
    void third.then(() => (isGranted = true));
    stop.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    expect(await contentOf(server)).toHaveLength(2);
    await until(async () => (await metric(server, WATCHERS)) === 1, { what: 'it to watch again' });
    expect(isGranted).toBe(false);
    await first.release();
    expect(await (await third).release()).toBe(true);
  });

  it('one whose process dies is passed over', async () => {
    const first = await hold();
    const dying = open();
    const [second] = await waiter(dying);
    const [third] = await waiter();
    const [, node] = await contentOf(server);
    await server.ask('/v3/lease/revoke', { ID: node!.lease });
    await first.release();
    const next = await third; // the second has come back behind it
    expect(next.lost?.aborted).toBe(false);
    await next.release();
    await (await second).release();
  });

  it('one whose node is removed by hand queues up anew', async () => {
    const first = await hold();
    const [second] = await waiter();
    const [, node] = await contentOf(server);
    await remove(server, node!.key);
    await first.release();
    const next = await second;
    expect(next.fencingToken).toBeGreaterThan(node!.createRevision);
    await next.release();
  });

  it('no wake-up is lost between the reading of a queue and the watch', async () => {
    const [one, another] = [open(), open()];
    for (let round = 0; round < 30; round++) {
      const lease = await one.acquire(requestFor(key), never());
      const next = another.acquire(requestFor(key), never());
      await new Promise((resolve) => setTimeout(resolve, round % 6));
      await lease.release();
      await (await next).release();
    }
  });

  it('leaves nothing behind when waits are aborted at any moment', async () => {
    const lease = await hold();
    const store = open();
    const waits = Array.from({ length: 20 }, async (_, index) => {
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error('enough')), index);
      await expect(store.acquire(requestFor(key), stop.signal)).rejects.toThrow('enough');
    });
    await Promise.all(waits);
    expect(await contentOf(server)).toHaveLength(1);
    await lease.release();
    expect(await contentOf(server)).toEqual([]);
  });

  it('is readable: the holder first, then who waits', async () => {
    key = 'order:<42>/α';
    const lease = await open().tryAcquire(requestFor(key, { holder: 'a:1:10' }));
    const stop = new AbortController();
    const waiting = open().acquire(requestFor(key, { holder: 'b:2:20' }), stop.signal);
    await until(async () => (await contentOf(server)).length === 2);
    const entries = await contentOf(server);
    expect(entries.map(({ value }) => value)).toEqual(['a:1:10', 'b:2:20']);
    expect(entries[0]!.createRevision).toBe(lease!.fencingToken);
    for (const entry of entries)
      expect(entry.key).toMatch(/^holdfast\/order%3A%3C42%3E%2F%CE%B1\/[^/]+$/);
    stop.abort();
    await waiting.catch(() => undefined);
    await lease!.release();
  });
});
