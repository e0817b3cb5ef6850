import { LockPermitsError, type Lease } from 'nest-holdfast';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { aborted } from '../../../support/faults/in-time.js';
import { EtcdServer } from '../../../support/servers/etcd-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { contentOf, metric, put, remove } from './content.js';
import { never, requestFor } from '../client/requests.js';
import { shareInTurns } from '../../support/etcd-zookeeper-turns.js';

const READ = Infinity;
const EVENTS = 'etcd_debugging_mvcc_events_total';
const WATCHERS = 'etcd_debugging_mvcc_watcher_total';
const TRANSACTIONS =
  'grpc_server_msg_received_total{grpc_method="Txn",grpc_service="etcdserverpb.KV",grpc_type="unary"}';

/** Holders do not watch here, so that only the waiters' watches are counted. */
jest.mock('../../../../lib/stores/kit/watch-delay.js', () => ({ WATCH_AFTER: Infinity }));

describe('a key that is shared at etcd', () => {
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
    key = `doc:${++keys}`;
  });

  afterEach(async () => {
    proxy.pass();
    await proxy.accept();
    await Promise.all(stores.map((store) => store.close()));
  });

  function open(sessionTimeout = 60_000, host = server.url): EtcdLockStore {
    const store = new EtcdLockStore({ hosts: host }, { sessionTimeout });
    stores.push(store);
    return store;
  }

  async function hold(permits?: number, store = open()): Promise<Lease> {
    return (await store.tryAcquire(requestFor(key, { permits })))!;
  }

  /** Resolves once so many stand in line, the new one included, and it watches. */
  async function wait(count: number, permits?: number, store = open(), end = never()) {
    const watching = await metric(server, WATCHERS);
    const turn = { lease: store.acquire(requestFor(key, { permits }), end), isGranted: false };
    turn.lease.then(() => (turn.isGranted = true)).catch(() => {}); // awaited later
    await standing(count);
    await until(async () => (await metric(server, WATCHERS)) > watching);
    return turn;
  }

  /** The nodes of holders and waiters, in order. */
  async function line(of = key): Promise<{ key: string; value: string }[]> {
    const folder = `holdfast/${encodeURIComponent(of)}/@`;
    return (await contentOf(server)).filter((entry) => entry.key.startsWith(folder));
  }

  async function standing(count: number): Promise<void> {
    await until(async () => (await line()).length === count, { what: `${count} to stand in line` });
  }

  async function counts(): Promise<[events: number, transactions: number, watchers: number]> {
    return [await metric(server, EVENTS), await metric(server, TRANSACTIONS), await metric(server, WATCHERS)]; // prettier-ignore
  }

  it('lets readers hold together, and a writer in its turn, however many readers come after it', async () => {
    const [a, b] = [open(), open()];
    const readers = [await hold(READ, a), await hold(READ, b)];
    const writing = await wait(3);
    expect(await a.tryAcquire(requestFor(key, { permits: READ }))).toBeUndefined();
    const later = [await wait(4, READ, a), await wait(5, READ, b)];
    for (const reader of readers) expect(await reader.release()).toBe(true);
    const writer = await writing.lease;
    expect(writer.fencingToken).toBeGreaterThan(0n);
    expect(later.map(({ isGranted }) => isGranted)).toEqual([false, false]);
    expect(await writer.release()).toBe(true);
    for (const { lease } of later) expect((await lease).fencingToken).toBeUndefined();
    expect(await line()).toHaveLength(2);
  });

  it('wakes all readers behind a writer, and no writer behind them, when it leaves', async () => {
    const writer = await hold();
    const reading = Array.from({ length: 20 }, () =>
      open().acquire(requestFor(key, { permits: READ }), never()),
    );
    await until(async () => (await metric(server, WATCHERS)) === 20);
    const next = await wait(22);
    const [events, transactions] = await counts();
    await writer.release();
    const readers = await Promise.all(reading);
    const [eventsNow, transactionsNow] = await counts();
    expect([eventsNow - events, transactionsNow - transactions]).toEqual([20, 21]); // one leaves, twenty look
    expect(next.isGranted).toBe(false);
    await Promise.all(readers.map((reader) => reader.release()));
    await (await next.lease).release();
  });

  it('wakes, of 12 who wait for one of 3 permits, the one that gets it and the one behind it', async () => {
    const held = [await hold(3), await hold(3), await hold(3)];
    const waiting = [];
    for (let index = 0; index < 12; index++) waiting.push(await wait(index + 4, 3));
    for (const [index, turn] of waiting.entries()) {
      const [events, transactions] = await counts();
      const isLast = index === 11;
      expect(await held.splice(index % 3, 1)[0]!.release()).toBe(true); // any of the holders
      held.push(await turn.lease);
      expect(waiting.filter(({ isGranted }) => isGranted)).toHaveLength(index + 1);
      // One leaves, one looks, one tells, one looks: two events, of which the second is for the one behind.
      const meant = isLast ? [events + 1, transactions + 2, 0] : [events + 2, transactions + 4, 11 - index]; // prettier-ignore
      await until(async () => (await counts()).join() === meant.join());
    }
    await Promise.all(held.map((lease) => lease.release()));
  });

  it('never has more than its permits say, for 12 callers of 3 stores, and serves all', async () => {
    const most = await shareInTurns([open(), open(), open()], 3, () =>
      requestFor(key, { permits: 3 }),
    );
    expect(most).toBe(3);
    expect(await line()).toEqual([]);
  });

  it('is asked for in one transaction while it is free, and in two while it is shared', async () => {
    const store = open();
    await (await hold(3, store)).release();
    for (const meant of [1, 2, 2, 1]) {
      const [, before] = await counts();
      await store.tryAcquire(requestFor(key, { permits: 3 }));
      expect((await counts())[1] - before).toBe(meant);
    }
    expect(await line()).toHaveLength(3);
  });

  it('serves 60 readers who come at once in three transactions each, at most', async () => {
    const four = Array.from({ length: 4 }, () => open());
    for (const store of four) await store.inspect(key); // connects
    await Promise.all(four.map((store, index) => store.tryAcquire(requestFor(`${key}:${index}`))));
    const [, before] = await counts();
    const readers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => hold(READ, four[index % 4])),
    );
    expect(readers.filter((lease) => lease !== undefined)).toHaveLength(60);
    expect((await counts())[1] - before).toBeLessThanOrEqual(3 * 60);
    expect(await line()).toHaveLength(60);
    expect(await open().tryAcquire(requestFor(key))).toBeUndefined();
  });

  it('grants all permits, and no more, to 40 who come at once, and leaves nothing of the others', async () => {
    const four = Array.from({ length: 4 }, () => open());
    const come = (permits: number) => (_: unknown, index: number) => hold(permits, four[index % 4]);
    const asked = [...Array.from({ length: 40 }, come(7)), ...Array.from({ length: 8 }, come(8))];
    const answers = await Promise.allSettled(asked);
    const refused = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    for (const each of refused) expect(each).toBeInstanceOf(LockPermitsError);
    const granted = answers.flatMap((each) => (each.status === 'fulfilled' && each.value) || []);
    const { permits, holders } = (await open().inspect(key))!;
    expect(granted).toHaveLength(permits!);
    expect(holders).toHaveLength(permits!);
    expect(await line()).toHaveLength(permits!);
    for (const lease of granted) expect(await lease.release()).toBe(true);
    expect(await line()).toEqual([]);
  });

  it('goes on when those who wait for a permit give up, wherever they stand', async () => {
    const stay = await hold(1);
    const ends = [0, 1, 2].map(() => new AbortController());
    const leaving = [];
    for (const [index, end] of ends.entries())
      leaving.push(await wait(index + 2, 1, open(), end.signal));
    const last = await wait(5, 1);
    for (const index of [1, 0, 2]) {
      ends[index]!.abort(new Error('enough'));
      await expect(leaving[index]!.lease).rejects.toThrow('enough');
    }
    expect(await line()).toHaveLength(2);
    expect(last.isGranted).toBe(false);
    await stay.release();
    expect(await (await last.lease).release()).toBe(true);
  });

  it.each([
    ['is closed', async (store: EtcdLockStore) => store.close()],
    ['is cut off', async () => (proxy.refuse(), proxy.cutAll())],
  ])('gets the permit back of one whose process %s', async (_, end) => {
    const dying = open(5_000, `127.0.0.1:${proxy.port}`);
    const lost = [await hold(2, dying), await hold(2, dying)];
    const [first, second] = [await wait(3, 2), await wait(4, 2)];
    await end(dying);
    const next = await Promise.all([first.lease, second.lease]);
    await Promise.all(lost.map(({ lost: signal }) => aborted(signal!)));
    for (const lease of next) expect(await lease.release()).toBe(true);
  });

  it('is refused with other permits, and nothing is left behind', async () => {
    const other = open();
    const writer = await hold();
    const waiting = await wait(2, 3);
    for (const permits of [READ, 4]) {
      const refusal = expect.objectContaining({ key, permits, inUse: 3 });
      const request = requestFor(key, { permits });
      await expect(other.tryAcquire(request)).rejects.toEqual(refusal);
      await expect(other.acquire(request, never())).rejects.toThrow(LockPermitsError);
    }
    const both = requestFor('another', { keys: ['another', key], permits: READ });
    await expect(other.tryAcquire(both)).rejects.toMatchObject({ key, permits: READ, inUse: 3 });
    expect(await line()).toHaveLength(2);
    expect(await line('another')).toEqual([]);
    await writer.release();
    await (await waiting.lease).release();
    expect(await (await hold(READ, other)).release()).toBe(true);
  });

  it('is readable: the values name the sharers, and an empty one excludes all callers', async () => {
    const request = { holder: 'a:1:10' };
    await open().tryAcquire(requestFor(key, { ...request, permits: READ }));
    await open().tryAcquire(requestFor(`${key}s`, { ...request, permits: 3 }));
    await open().tryAcquire(requestFor(`${key}w`, { holder: 'the host:1:10 read' }));
    const values = [await line(), await line(`${key}s`), await line(`${key}w`)];
    expect(values.map(([first]) => first!.value)).toEqual(['a:1:10 read', 'a:1:10 3', 'the host:1:10 read write']); // prettier-ignore
    const alone = await open().inspect(`${key}w`);
    expect(alone).toMatchObject({ holder: 'the host:1:10 read', fencingToken: expect.anything() });
    await put(server, `holdfast/${encodeURIComponent(`${key}x`)}/@x`, 'by hand');
    expect(await open().inspect(`${key}x`)).toMatchObject({ holder: 'by hand' });
    expect(await open().tryAcquire(requestFor(`${key}x`, { permits: READ }))).toBeUndefined();
  });

  describe('after a writer has become a reader', () => {
    it('lets the readers in that are right behind it, and goes on when they are gone', async () => {
      const writer = await hold();
      const reading = [await wait(2, READ), await wait(3, READ)];
      const writing = await wait(4);
      expect(await writer.downgrade!()).toBe(true);
      expect(writer.fencingToken).toBeUndefined();
      const readers = await Promise.all(reading.map(({ lease }) => lease));
      const holders = Array.from({ length: 3 }, () => 'host:1:2');
      const seen = { key, permits: READ, holder: 'host:1:2', holders };
      expect(await open().inspect(key)).toMatchObject(seen);
      expect(writing.isGranted).toBe(false);
      expect(await writer.extend(1_000)).toBe(true);
      for (const reader of [writer, ...readers]) expect(await reader.release()).toBe(true);
      expect(await (await writing.lease).release()).toBe(true);
      expect(await line()).toEqual([]);
    });

    it.each(['requests', 'replies'] as const)('is shared though the %s were lost', async (way) => {
      const writer = await hold(undefined, open(60_000, `127.0.0.1:${proxy.port}`));
      const reading = await wait(2, READ);
      proxy[way].drop();
      const made = writer.downgrade!();
      if (way === 'replies') await reading.lease;
      proxy.cutAll();
      proxy.pass();
      expect(await made).toBe(true);
      await (await reading.lease).release();
      expect(await writer.release()).toBe(true);
    });

    it('does so for all keys, or says that one is gone', async () => {
      const both = [key, `${key}'`];
      const first = (await open().tryAcquire(requestFor(key, { keys: both })))!;
      expect(await first.downgrade!()).toBe(true);
      const reader = await open().tryAcquire(requestFor(key, { keys: both, permits: READ }));
      expect(await first.release()).toBe(true);
      expect(await reader!.release()).toBe(true);
      const second = (await open().tryAcquire(requestFor(key, { keys: both })))!;
      await remove(server, (await line())[0]!.key);
      expect(await second.downgrade!()).toBe(false);
      await second.release();
    });
  });
});
