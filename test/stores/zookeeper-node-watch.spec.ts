import type { Lease } from 'nest-holdfast';
import type { Connection } from '../../lib/stores/zookeeper/connection.js';
import { Tenure } from '../../lib/stores/zookeeper/tenure.js';
import { Deferred } from '../nest/support/deferred.js';
import { aborted, inTime } from '../support/faults/in-time.js';
import { until } from '../support/until.js';
import { ZooKeeperStores, aRequest } from './zookeeper-stores.js';

/** A beat each quarter of it also looks after the nodes: too late for these tests. */
const SESSION = { sessionTimeout: 60_000 };
const LONG_BEFORE_A_BEAT = 10_000;

describe('A holder at ZooKeeper', () => {
  let zookeeper: ZooKeeperStores;
  let keys = 0;
  let key = '';

  beforeAll(async () => {
    zookeeper = await ZooKeeperStores.shared();
  });

  beforeEach(() => {
    key = `order-${(keys += 1)}`;
  });

  afterEach(() => zookeeper.closeAll());

  afterAll(() => zookeeper[Symbol.asyncDispose]());

  async function hold(all = [key], permits?: number): Promise<Lease> {
    const store = zookeeper.openRemote(SESSION);
    return (await store.tryAcquire({ ...aRequest(key, permits), keys: all }))!;
  }

  /** Resolves when so many nodes are watched. */
  async function watching(count: number): Promise<void> {
    await until(async () => (await zookeeper.metric('watch_count')) === count);
  }

  async function removeNode(of = key): Promise<void> {
    await zookeeper.remove(of, (await zookeeper.line(of))[0]!);
  }

  async function isTold(lease: Lease): Promise<void> {
    await inTime(LONG_BEFORE_A_BEAT, aborted(lease.lost!));
    expect(String(lease.lost!.reason)).toContain('was deleted at ZooKeeper');
    expect(await lease.extend(1_000)).toBe(false);
    expect(await lease.release()).toBe(false);
  }

  it.each([
    ['of a lock', undefined],
    ['of a reader', Infinity],
    ['of a semaphore', 3],
  ])('is told at once when somebody deletes its node, %s', async (_, permits) => {
    const lease = await hold([key], permits);
    await watching(1);
    await removeNode();
    await isTold(lease);
    await watching(0);
  });

  it('is told when that happens before the node is watched', async () => {
    const lease = await hold();
    await removeNode();
    await isTold(lease);
  });

  it('is told of each of its keys, and gives the others back', async () => {
    const all = [key, `${key}-b`, `${key}-c`];
    const lease = await hold(all);
    await watching(3);
    await removeNode(all[1]);
    await isTold(lease);
    for (const each of all) await zookeeper.standing(each, 0);
    await watching(0);
  });

  it('is told when it has become a reader meanwhile, which is no loss', async () => {
    const lease = await hold();
    await watching(1);
    expect(await lease.downgrade!()).toBe(true);
    await watching(1);
    expect(lease.lost!.aborted).toBe(false);
    await removeNode();
    await isTold(lease);
  });

  it('is not told of a loss by a look at its nodes during which a downgrade has added one', async () => {
    const tenure = new Tenure(() => false);
    tenure.paths = ['/node'];
    const read = new Deferred<object>();
    const looking = tenure.lookAfter({ read: () => read.promise } as unknown as Connection);
    tenure.paths = ['/node', '/node-reads'];
    read.resolve({});
    await looking;
    expect(tenure.lost.aborted).toBe(false);
  });

  it('is told of what happened while it was cut off', async () => {
    const lease = await hold();
    await watching(1);
    zookeeper.proxy.refuse();
    zookeeper.proxy.cutAll();
    await removeNode();
    await zookeeper.proxy.accept();
    await isTold(lease);
  });

  it('leaves no watch when it releases its lock, and sets none when it does so soon', async () => {
    const set = () => zookeeper.metric('watch_count');
    const lease = await hold();
    await watching(1);
    expect(await lease.release()).toBe(true);
    expect(await set()).toBe(0);
    const store = zookeeper.open(SESSION);
    await store.inspect(key);
    const seen: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      await (await store.tryAcquire(aRequest(key)))!.release();
      seen.push(await set());
    }
    expect(Math.max(...seen)).toBe(0);
  });
});
