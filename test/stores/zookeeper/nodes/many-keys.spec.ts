import { LockService, type Lease } from 'nest-holdfast';
import { FakeClock } from 'nest-holdfast/testing';
import { aborted } from '../../../support/faults/in-time.js';
import { until } from '../../../support/until.js';
import { ZooKeeperStores, aRequest, noEnd } from '../stores.js';

describe('Several keys at ZooKeeper', () => {
  let zookeeper: ZooKeeperStores;
  let tests = 0;
  let a = '';
  let b = '';

  beforeAll(async () => {
    zookeeper = await ZooKeeperStores.shared();
  });

  beforeEach(() => {
    tests += 1;
    [a, b] = [`a:${tests}`, `b:${tests}`];
  });

  afterEach(() => zookeeper.closeAll());

  afterAll(() => zookeeper[Symbol.asyncDispose]());

  function both(keys = [a, b]) {
    return { ...aRequest(keys[0]!), keys };
  }

  function hold(store = zookeeper.open()): Promise<Lease> {
    return store.tryAcquire(both()).then((lease) => lease!);
  }

  async function remote(options: object = {}) {
    const store = zookeeper.openRemote(options);
    await store.inspect(a);
    return store;
  }

  /** How many stand in line for each key. */
  async function standing(): Promise<number[]> {
    return (await Promise.all([a, b].map((key) => zookeeper.line(key)))).map(
      ({ length }) => length,
    );
  }

  async function eachStanding(count: number): Promise<void> {
    await Promise.all([a, b].map((key) => zookeeper.standing(key, count)));
  }

  it('are one transaction, so tokens grow in the order of the grants', async () => {
    const [one, two] = [zookeeper.open(), zookeeper.open()];
    const first = await hold(one);
    const { fencingToken } = first;
    expect(await two.inspect(a)).toMatchObject({ fencingToken });
    expect(await two.inspect(b)).toMatchObject({ fencingToken });
    const waiting = two.acquire(aRequest(a), noEnd());
    await zookeeper.standing(a, 2);
    expect(await one.tryAcquire(both())).toBeUndefined();
    expect(await first.release()).toBe(true);
    const second = await waiting;
    expect(second.fencingToken!).toBeGreaterThan(fencingToken!);
    expect(await one.tryAcquire(both())).toBeUndefined();
    await second.release();
    const third = await hold(one);
    expect(third.fencingToken!).toBeGreaterThan(second.fencingToken!);
    await third.release();
  });

  it('wanted crosswise are granted to exactly one, each time', async () => {
    const stores = [zookeeper.open(), zookeeper.open()];
    let last = 0n;
    for (let round = 0; round < 20; round += 1) {
      const attempts = stores.map((store, index) =>
        store.tryAcquire(both(index ? [b, a] : [a, b])),
      );
      const [lease, ...others] = (await Promise.all(attempts)).filter((each) => each !== undefined);
      expect(others).toEqual([]);
      expect(lease!.fencingToken!).toBeGreaterThan(last);
      last = lease!.fencingToken!;
      expect(await lease!.release()).toBe(true);
    }
    expect(await standing()).toEqual([0, 0]);
  });

  it('of services that want them all the time are given to each in the end', async () => {
    const polling = { retryDelay: 5, retryJitter: 5 };
    const services = [1, 2, 3].map(() => new LockService(zookeeper.open(), polling));
    let inside = 0;
    let last = 0n;
    const work = services.map(async (locks) => {
      for (let turn = 0; turn < 5; turn += 1)
        await locks.withLock([a, b], async (lock) => {
          expect((inside += 1)).toBe(1);
          expect(lock.fencingToken).toBeGreaterThan(last);
          last = lock.fencingToken;
          await new Promise(setImmediate);
          inside -= 1;
        });
    });
    await Promise.all(work);
  });

  it('whose creation was not answered are found again, and made only once', async () => {
    const store = await remote();
    await (await hold()).release(); // their lines are there now
    zookeeper.proxy.replies.drop();
    const taken = hold(store);
    await eachStanding(1);
    zookeeper.proxy.cutAll();
    zookeeper.proxy.replies.pass();
    const lease = await taken;
    expect(await standing()).toEqual([1, 1]);
    expect(await lease.release()).toBe(true);
    expect(await standing()).toEqual([0, 0]);
  });

  it('of which only some are found again are all made anew', async () => {
    const store = await remote();
    await (await hold()).release();
    zookeeper.proxy.replies.drop();
    const taken = hold(store);
    await eachStanding(1);
    await zookeeper.remove(b, (await zookeeper.line(b))[0]!);
    zookeeper.proxy.cutAll();
    zookeeper.proxy.replies.pass();
    const lease = await taken;
    const { fencingToken } = lease;
    expect(await store.inspect(a)).toMatchObject({ fencingToken });
    expect(await store.inspect(b)).toMatchObject({ fencingToken });
    expect(await lease.release()).toBe(true);
    expect(await standing()).toEqual([0, 0]);
  });

  it('are released once when the reply was lost', async () => {
    const lease = await hold(await remote());
    zookeeper.proxy.replies.drop();
    const released = lease.release();
    await eachStanding(0);
    zookeeper.proxy.cutAll();
    zookeeper.proxy.replies.pass();
    expect(await released).toBe(true);
  });

  it('are not all released when another client has deleted a node: the release says so, and leaves nothing', async () => {
    const lease = await hold();
    await zookeeper.remove(a, (await zookeeper.line(a))[0]!);
    expect(await lease.release()).toBe(false);
    expect(await standing()).toEqual([0, 0]);
  });

  it('are all lost when another client deletes one node, and the other goes, too', async () => {
    const lease = await hold(zookeeper.open({ sessionTimeout: 60_000 }));
    await zookeeper.remove(b, (await zookeeper.line(b))[0]!);
    await aborted(lease.lost!);
    expect(lease.lost!.reason).toMatchObject({ message: expect.stringContaining('was deleted') });
    await eachStanding(0);
    expect(await lease.extend(1_000)).toBe(false);
    expect(await lease.release()).toBe(false);
  });

  it('are known to be lost after a blocked event loop, before any timer could run', async () => {
    const clock = new FakeClock();
    const store = await remote({ clock, sessionTimeout: 1_000 });
    const lease = await hold(store);
    const lock = await new LockService(zookeeper.open({ clock, sessionTimeout: 1_000 })).acquire([`${a}'`, `${b}'`]); // prettier-ignore
    expect(lease.lost!.aborted).toBe(false);
    clock.jump(1_000);
    expect(lease.lost!.aborted).toBe(true);
    expect(() => lock.assertHeld()).toThrow(expect.objectContaining({ code: 'LOCK_LOST' }));
  });

  it('or one that another session has made for the same request are not taken for its own', async () => {
    const store = await remote();
    const request = both();
    const other = (await zookeeper.open().tryAcquire(request))!;
    zookeeper.proxy.requests.drop();
    const sent = zookeeper.proxy.requests.bytes;
    const attempt = store.tryAcquire(request);
    await until(() => zookeeper.proxy.requests.bytes > sent);
    zookeeper.proxy.cutAll();
    zookeeper.proxy.requests.pass();
    expect(await attempt).toBeUndefined();
    expect(await standing()).toEqual([1, 1]);
    expect(await other.release()).toBe(true);
  });
});
