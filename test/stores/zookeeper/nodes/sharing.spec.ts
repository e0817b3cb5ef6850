import { LockPermitsError, type Lease } from 'nest-holdfast';
import type { ZooKeeperLockStore } from 'nest-holdfast/zookeeper';
import { aborted } from '../../../support/faults/in-time.js';
import { KeyNodes } from '../../../../lib/stores/zookeeper/names/key-nodes.js';
import { Watches } from '../../../../lib/stores/zookeeper/client/watches.js';
import { until } from '../../../support/until.js';
import { shareInTurns } from '../../support/etcd-zookeeper-turns.js';
import { ZooKeeperConsole } from '../client/console.js';
import { ZooKeeperStores, aRequest, noEnd } from '../stores.js';

const READ = Infinity;

describe('A key that is shared at ZooKeeper', () => {
  let zookeeper: ZooKeeperStores;
  let keys = 0;
  let key = '';

  beforeAll(async () => {
    zookeeper = await ZooKeeperStores.shared();
  });

  beforeEach(() => {
    key = `doc:${(keys += 1)}`;
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await zookeeper.closeAll();
  });

  afterAll(() => zookeeper[Symbol.asyncDispose]());

  function open(count: number): ZooKeeperLockStore[] {
    return Array.from({ length: count }, () => zookeeper.openTimeless());
  }

  async function hold(permits?: number, store = zookeeper.openTimeless()): Promise<Lease> {
    return (await store.tryAcquire(aRequest(key, permits)))!;
  }

  /** Resolves once so many stand in line, the new one included. */
  async function wait(count: number, permits?: number, store = zookeeper.open(), end = noEnd()) {
    const turn = { lease: store.acquire(aRequest(key, permits), end), isGranted: false };
    turn.lease.then(() => (turn.isGranted = true)).catch(() => {}); // awaited later
    await zookeeper.standing(key, count);
    return turn;
  }

  /** A store behind the proxy, with a session. */
  async function remote(sessionTimeout = 15_000) {
    const store = zookeeper.openRemote({ sessionTimeout });
    await store.inspect(key);
    return store;
  }

  /** How many watches fired for what was removed, written to, and listed. */
  function fired(): Promise<number[]> {
    const counts = ['deleted', 'changed', 'children'].map((what) =>
      zookeeper.metric(`sum_node_${what}_watch_count`),
    );
    return Promise.all(counts);
  }

  it('lets readers hold together, and a writer in its turn, however many readers come after it', async () => {
    const [a, b, c] = open(3);
    const readers = [await hold(READ, a), await hold(READ, b)];
    const writing = await wait(3, undefined, c);
    expect(await a!.tryAcquire(aRequest(key, READ))).toBeUndefined();
    const later = [await wait(4, READ, a), await wait(5, READ, b)];
    for (const reader of readers) expect(await reader.release()).toBe(true);
    const writer = await writing.lease;
    expect(writer.fencingToken).toBeGreaterThan(0n);
    expect(later.map(({ isGranted }) => isGranted)).toEqual([false, false]);
    expect(await writer.release()).toBe(true);
    for (const { lease } of later) expect((await lease).fencingToken).toBeUndefined();
    expect(await zookeeper.line(key)).toHaveLength(2);
  });

  it('wakes all readers behind a writer, and no writer behind them, when it leaves', async () => {
    const writer = await hold();
    const stores = open(20);
    const reading = stores.map((store) => store.acquire(aRequest(key, READ), noEnd()));
    await zookeeper.standing(key, 21);
    const next = await wait(22);
    await until(async () => (await zookeeper.metric('watch_count')) === 21);
    const [deleted] = await fired();
    await writer.release();
    const readers = await Promise.all(reading);
    expect((await fired())[0]! - deleted!).toBe(20);
    expect(next.isGranted).toBe(false);
    await Promise.all(readers.map((reader) => reader.release()));
    await (await next.lease).release();
  });

  it('wakes, of 12 who wait for one of 3 permits, the one that gets it and the one behind it', async () => {
    const stores = open(5);
    const held = [await hold(3, stores[0]), await hold(3, stores[1]), await hold(3, stores[2])];
    const waiting = [];
    for (let index = 0; index < 12; index += 1)
      waiting.push(await wait(index + 4, 3, stores[index % 5]));
    await until(async () => (await zookeeper.metric('watch_count')) === 12);
    for (const [index, turn] of waiting.entries()) {
      const [deleted, changed, children] = await fired();
      expect(await held.splice(index % 3, 1)[0]!.release()).toBe(true); // any of the holders
      held.push(await turn.lease);
      expect(waiting.filter(({ isGranted }) => isGranted)).toHaveLength(index + 1);
      const isLast = index === 11;
      const isTold = async () => (await fired())[1] === changed! + (isLast ? 0 : 1);
      await until(async () => (await isTold()) && (await zookeeper.metric('watch_count')) === 11 - index); // prettier-ignore
      expect(await fired()).toEqual([deleted, changed! + (isLast ? 0 : 1), children! + 1]);
    }
    await Promise.all(held.map((lease) => lease.release()));
  });

  it('never has more than its permits say, for 12 callers of 3 stores, and serves all', async () => {
    const most = await shareInTurns(open(3), 3, () => aRequest(key, 3));
    expect(most).toBe(3);
    await zookeeper.standing(key, 0);
  });

  it('goes on when those who wait for a permit give up, wherever they stand', async () => {
    const stay = await hold(1);
    const ends = [0, 1, 2].map(() => new AbortController());
    const leaving = [];
    for (const [index, end] of ends.entries()) leaving.push(await wait(index + 2, 1, zookeeper.open(), end.signal)); // prettier-ignore
    const last = await wait(5, 1);
    for (const index of [1, 0, 2]) {
      ends[index]!.abort(new Error('enough'));
      await expect(leaving[index]!.lease).rejects.toThrow('enough');
    }
    expect(await zookeeper.line(key)).toHaveLength(2);
    expect(last.isGranted).toBe(false);
    await stay.release();
    expect(await (await last.lease).release()).toBe(true);
  });

  it.each([
    ['is closed', async (store: ZooKeeperLockStore) => store.close()],
    ['is cut off', async () => (zookeeper.proxy.refuse(), zookeeper.proxy.cutAll())],
  ])('gets the permit back of one whose process %s', async (_, end) => {
    const dying = await remote(600);
    const lost = [await hold(2, dying), await hold(2, dying)];
    const [first, second] = [await wait(3, 2), await wait(4, 2)];
    await end(dying);
    const next = await Promise.all([first.lease, second.lease]);
    await Promise.all(lost.map(({ lost: signal }) => aborted(signal!)));
    for (const lease of next) expect(await lease.release()).toBe(true);
  });

  it('is refused with other permits, and nothing is left behind', async () => {
    const [a, b] = open(2) as [ZooKeeperLockStore, ZooKeeperLockStore];
    const writer = await hold(undefined, a);
    const waiting = await wait(2, 3, a);
    for (const permits of [READ, 4]) {
      const refusal = expect.objectContaining({ key, permits, inUse: 3 });
      await expect(b.tryAcquire(aRequest(key, permits))).rejects.toEqual(refusal);
      await expect(b.acquire(aRequest(key, permits), noEnd())).rejects.toThrow(LockPermitsError);
    }
    const both = { ...aRequest('another', READ), keys: ['another', key] };
    await expect(b.tryAcquire(both)).rejects.toMatchObject({ key, permits: READ, inUse: 3 });
    expect(await zookeeper.line(key)).toHaveLength(2);
    expect(await zookeeper.line('another')).toHaveLength(0);
    await writer.release();
    await (await waiting.lease).release();
    expect(await (await hold(READ, b)).release()).toBe(true);
  });

  it('finds a sharer again whose creation was not answered, and makes no other one', async () => {
    const store = await remote();
    await (await hold(3)).release(); // its line is there now
    zookeeper.proxy.replies.drop();
    const taken = hold(3, store);
    await zookeeper.standing(key, 1);
    zookeeper.proxy.cutAll();
    zookeeper.proxy.replies.pass();
    expect(await (await taken).release()).toBe(true);
    await zookeeper.standing(key, 0);
  });

  it.each([
    ['writes to the node of the writer', false],
    ['deletes the mark of a writer that has become a reader', true],
  ])(
    'keeps those who wait from asking again and again when another client %s',
    async (_, isMark) => {
      const writer = await hold();
      if (isMark) await writer.downgrade!();
      const [node, mark] = await zookeeper.line(key);
      if (mark) await zookeeper.remove(key, mark);
      const reading = isMark ? undefined : await wait(2, READ);
      await using console = new ZooKeeperConsole(zookeeper.server.url);
      const looks = jest.spyOn(Watches.prototype, 'untilNode');
      const folder = `/holdfast/${encodeURIComponent(key)}`;
      if (!isMark) await console.write(`${folder}/${node}`, 'by hand');
      const turn = reading ?? (await wait(2, READ));
      for (let times = 0; times < 100; times++) await console.children(folder);
      expect(looks.mock.calls.length).toBeLessThanOrEqual(3);
      expect(turn.isGranted).toBe(false);
      await writer.release();
      expect(await (await turn.lease).release()).toBe(true);
    },
  );

  describe('after a writer has become a reader', () => {
    it('was refused before, and asked again', async () => {
      const writer = await hold();
      const mark = jest.spyOn(KeyNodes.prototype, 'markReaders');
      mark.mockRejectedValueOnce(new Error('refused'));
      await expect(writer.downgrade!()).rejects.toThrow('refused');
      expect(writer.fencingToken).toBeGreaterThan(0n);
      expect(await writer.downgrade!()).toBe(true);
      expect(await (await hold(READ)).release()).toBe(true);
      expect(await writer.release()).toBe(true);
      await zookeeper.standing(key, 0);
    });

    it('lets the readers in that are right behind it, and goes on when they are gone', async () => {
      const writer = await hold();
      const stores = open(3);
      const reading = [await wait(2, READ, stores[0]), await wait(3, READ, stores[1])];
      const writing = await wait(4, undefined, stores[2]);
      expect(await writer.downgrade!()).toBe(true);
      expect(writer.fencingToken).toBeUndefined();
      const readers = await Promise.all(reading.map(({ lease }) => lease));
      const holders = Array.from({ length: 3 }, () => 'host:1:2');
      expect(await stores[0]!.inspect(key)).toMatchObject({ key, permits: READ, holder: 'host:1:2', holders }); // prettier-ignore
      expect(writing.isGranted).toBe(false);
      expect(await writer.extend(1_000)).toBe(true);
      for (const reader of [writer, ...readers]) expect(await reader.release()).toBe(true);
      expect(await (await writing.lease).release()).toBe(true);
      await zookeeper.standing(key, 0);
    });

    it.each(['requests', 'replies'] as const)('is shared though the %s were lost', async (way) => {
      const writer = await hold(undefined, await remote());
      const reading = await wait(2, READ);
      const sent = zookeeper.proxy.requests.bytes;
      zookeeper.proxy[way].drop();
      const made = writer.downgrade!();
      if (way === 'replies') await reading.lease;
      else await until(() => zookeeper.proxy.requests.bytes > sent);
      zookeeper.proxy.cutAll();
      zookeeper.proxy.pass();
      expect(await made).toBe(true);
      await (await reading.lease).release();
      expect(await writer.release()).toBe(true);
      await zookeeper.standing(key, 0); // nor is its mark left
    });

    it('is lost with its session, or when another client deletes the mark', async () => {
      const writer = await hold(undefined, zookeeper.open({ sessionTimeout: 60_000 }));
      expect(await writer.downgrade!()).toBe(true);
      const mark = (await zookeeper.line(key)).find((name) => name.endsWith('-reads'))!;
      await zookeeper.remove(key, mark);
      await aborted(writer.lost!);
      await zookeeper.standing(key, 0);
      expect(await writer.downgrade!()).toBe(false);
    });

    it('does so for all keys, or says that one is gone', async () => {
      const store = zookeeper.open();
      const both = { ...aRequest(key), keys: [key, `${key}'`] };
      const first = (await store.tryAcquire(both))!;
      expect(await first.downgrade!()).toBe(true);
      const reader = (await zookeeper.open().tryAcquire({ ...both, token: 't', permits: READ }))!;
      expect(await first.release()).toBe(true);
      expect(await reader.release()).toBe(true);
      const second = (await store.tryAcquire({ ...both, token: 'u' }))!;
      await zookeeper.remove(key, (await zookeeper.line(key))[0]!);
      expect(await second.downgrade!()).toBe(false);
      await zookeeper.standing(`${key}'`, 0);
    });
  });
});
