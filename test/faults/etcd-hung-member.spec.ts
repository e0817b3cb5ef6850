import { EtcdLockStore } from 'nest-holdfast/etcd';
import { metric } from '../stores/etcd-content.js';
import { never, requestFor } from '../stores/etcd-requests.js';
import { EtcdCluster, type EtcdServer } from '../support/etcd-server.js';
import { until } from '../support/until.js';
import { inTime } from './in-time.js';

/** Longer than an election, and what comes before it, on a busy machine. */
const SESSION = 5_000;

describe('one member of three', () => {
  let cluster: EtcdCluster;
  let stores: EtcdLockStore[];

  beforeAll(async () => {
    cluster = await EtcdCluster.start();
  });

  afterAll(() => cluster?.stop());

  beforeEach(() => {
    stores = [1, 2].map(
      () => new EtcdLockStore({ hosts: cluster.urls }, { sessionTimeout: SESSION }),
    );
  });

  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()));
    cluster.resume();
    const killed = cluster.nodes.filter(({ pid }) => pid === undefined);
    await Promise.all(killed.map((node) => node.restart()));
  });

  /** The member that somebody watches at. */
  function watched(): Promise<EtcdServer> {
    return until(async () => {
      for (const node of cluster.nodes)
        if ((await metric(node, 'etcd_debugging_mvcc_watcher_total')) > 0) return node;
      return undefined;
    });
  }

  it.each([
    ['hangs', async (member: EtcdServer) => member.pause()],
    ['is killed', (member: EtcdServer) => member.kill()],
  ])('%s: those who hold and wait there go on at another one', async (_, fail) => {
    const [holder, waiter] = stores as [EtcdLockStore, EtcdLockStore];
    const lease = await holder.tryAcquire(requestFor('key'));
    const waiting = waiter.acquire(requestFor('key'), never());
    const member = await watched();
    await fail(member);
    expect(await inTime(SESSION, lease!.extend(1))).toBe(true);
    expect(await inTime(SESSION, lease!.release())).toBe(true);
    const next = await inTime(SESSION, waiting);
    expect(next.lost!.aborted).toBe(false);
    expect(await inTime(SESSION, next.extend(1))).toBe(true);
    expect(await next.release()).toBe(true);
  });
});
