import type { Lease } from 'nest-holdfast';
import type { Connection } from '../../../../lib/stores/zookeeper/client/connection.js';
import { NodeLifetime } from '../../../../lib/stores/zookeeper/session/node-lifetime.js';
import { Deferred } from '../../../nest/support/deferred.js';
import { until } from '../../../support/until.js';
import { SESSION, isTold, itIsToldOfItsNode } from '../../support/watched-holder.js';
import { ZooKeeperStores, aRequest } from '../stores.js';

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

  async function hold(all: readonly string[] = [key], permits?: number): Promise<Lease> {
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

  itIsToldOfItsNode({ hold, watching, nodes: (of) => zookeeper.line(of), removeNode }, () => key);

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
    const lifetime = new NodeLifetime(() => false);
    lifetime.paths = ['/node'];
    const read = new Deferred<object>();
    const looking = lifetime.lookAfter({ read: () => read.promise } as unknown as Connection);
    lifetime.paths = ['/node', '/node-reads'];
    read.resolve({});
    await looking;
    expect(lifetime.lost.aborted).toBe(false);
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
