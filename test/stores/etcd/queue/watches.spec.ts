import { systemClock } from '../../../../lib/core/async/clock.js';
import { EtcdMembers } from '../../../../lib/stores/etcd/client/etcd-members.js';
import { EtcdWatches } from '../../../../lib/stores/etcd/queue/etcd-watches.js';
import { openClient } from '../../../../lib/stores/etcd/client/open-client.js';
import { EtcdLockStore } from 'nest-holdfast/etcd';
import { inTime } from '../../../support/faults/in-time.js';
import { EtcdServer } from '../../../support/servers/etcd-server.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { until } from '../../../support/until.js';
import { compact, metric, put, remove, revisionOf } from './content.js';
import { never, requestFor } from '../client/requests.js';

const FOR_EVER = 100_000;
const WATCHERS = 'etcd_debugging_mvcc_watcher_total';

describe('watches of an EtcdLockStore', () => {
  let server: EtcdServer;
  let proxy: TcpProxy;
  let members: EtcdMembers;
  let watches: EtcdWatches;

  beforeAll(async () => {
    server = await EtcdServer.shared();
  });

  afterAll(() => server?.remove());

  beforeEach(async () => {
    proxy = await TcpProxy.start(server.port);
    limitAnswers(20_000);
    await put(server, 'key', '');
  });

  afterEach(async () => {
    await members.close();
    await proxy.stop();
  });

  /** To `timeout` milliseconds each: a busy machine answers late. */
  function limitAnswers(timeout: number): void {
    const host = `127.0.0.1:${proxy.port}`;
    const open = () => openClient(host, { hosts: host }, timeout);
    members = new EtcdMembers([host], open, systemClock, timeout);
    watches = new EtcdWatches(members, systemClock, FOR_EVER);
  }

  function watch(from: bigint, signal = never(), isEager = false): Promise<boolean> {
    const awaited = { key: Buffer.from('key'), from: String(from), until: 'gone' } as const;
    return watches.happened(awaited, signal, isEager);
  }

  it('tell of a deletion that was before the watch and after the revision it starts from', async () => {
    const seen = await revisionOf(server);
    await remove(server, 'key');
    expect(await inTime(5_000, watch(seen + 1n))).toBe(true);
  });

  it('end when the revision they start from has been compacted away', async () => {
    const seen = await revisionOf(server);
    await put(server, 'another', '1');
    await put(server, 'another', '2');
    await compact(server);
    expect(await inTime(5_000, watch(seen + 1n))).toBe(false);
  });

  it('end at once, if so asked, when anything has changed before them', async () => {
    const seen = await revisionOf(server);
    const stop = new AbortController();
    let hasEnded = false;
    const eager = watch(seen + 1n, stop.signal, true).then(() => (hasEnded = true));
    await until(async () => (await metric(server, WATCHERS)) === 1);
    expect(hasEnded).toBe(false);
    stop.abort();
    await eager;
    await put(server, 'another', '1');
    await inTime(5_000, watch(seen + 1n, never(), true));
  });

  it('end when the connection is lost, and can be had again', async () => {
    const watching = watch(await revisionOf(server));
    await until(async () => (await metric(server, WATCHERS)) === 1);
    proxy.cutAll();
    await inTime(5_000, watching);
    const again = watch((await revisionOf(server)) + 1n);
    await remove(server, 'key');
    await inTime(5_000, again);
  });

  it('end when nothing comes through an open connection any more, and can be had again', async () => {
    await members.close();
    limitAnswers(1_000);
    const from = (await revisionOf(server)) + 1n;
    const before = watch(from);
    await until(async () => (await metric(server, WATCHERS)) === 1);
    proxy.replies.drop();
    const after = watch(from);
    expect(await inTime(30_000, Promise.all([before, after]))).toEqual([false, false]);
    proxy.pass();
    const again = watch(from);
    await remove(server, 'key');
    expect(await inTime(30_000, again)).toBe(true);
  });

  it('end with their signal, and are taken back from the server', async () => {
    const stop = new AbortController();
    const watching = watch((await revisionOf(server)) + 1n, stop.signal);
    await until(async () => (await metric(server, WATCHERS)) === 1);
    stop.abort();
    await inTime(5_000, watching);
    await until(async () => (await metric(server, WATCHERS)) === 0);
  });

  it('do not stall a waiter when all is compacted while it is cut off, and its turn comes', async () => {
    const [holder, waiter] = [server.port, proxy.port].map(
      (port) => new EtcdLockStore({ hosts: `127.0.0.1:${port}` }),
    );
    const lease = await holder!.tryAcquire(requestFor('order'));
    const waiting = waiter!.acquire(requestFor('order'), never());
    await until(async () => (await metric(server, WATCHERS)) === 2, { what: 'both to watch' });
    proxy.refuse();
    proxy.cutAll();
    await lease!.release();
    await put(server, 'another', '3');
    await compact(server);
    await proxy.accept();
    const next = await inTime(10_000, waiting);
    expect(await next.release()).toBe(true);
    await Promise.all([holder!.close(), waiter!.close()]);
  });
});
