import type { Lease } from 'nest-holdfast';
import { aborted } from '../../../support/faults/in-time.js';
import { until } from '../../../support/until.js';
import { ZooKeeperStores, aRequest, noEnd } from '../stores.js';

describe('The line for a lock at ZooKeeper', () => {
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

  function hold(store = zookeeper.open(), request = aRequest(key)): Promise<Lease> {
    return store.tryAcquire(request).then((lease) => lease!);
  }

  /** A store behind the proxy, with a session. */
  async function remote(sessionTimeout = 15_000) {
    const store = zookeeper.openRemote({ sessionTimeout });
    await store.inspect(key);
    return store;
  }

  /** Which nodes are watched, `name` if by one and `name name` if by two sessions. */
  async function watched(): Promise<string[]> {
    const text = await zookeeper.server.word('wchp');
    const blocks = text.split(/^(?=\/)/m).filter((block) => block.includes('/'));
    const names = blocks.map((block) => {
      const name = block.split('\n')[0]!.replace(/^.*\//, '');
      return Array.from(block.matchAll(/^\t0x/gm), () => name).join(' ');
    });
    return names.toSorted();
  }

  it('wakes exactly one of 50 who wait, at each release, and in their order', async () => {
    const stores = [1, 2, 3, 4, 5].map(() => zookeeper.openTimeless());
    const first = await hold(stores[0]);
    const order: number[] = [];
    const turns: Promise<Lease>[] = [];
    for (let index = 0; index < 50; index += 1) {
      const turn = stores[index % 5]!.acquire(aRequest(key), noEnd());
      turns.push(turn.finally(() => order.push(index)));
      await zookeeper.standing(key, index + 2);
    }
    await until(async () => (await zookeeper.metric('watch_count')) === 50);
    const woken = await zookeeper.metric('sum_node_deleted_watch_count');
    const received = await zookeeper.metric('packets_received');
    let holder = first;
    for (const [index, turn] of turns.entries()) {
      expect(await holder.release()).toBe(true);
      holder = await turn;
      expect(order).toHaveLength(index + 1);
      expect(await zookeeper.metric('sum_node_deleted_watch_count')).toBe(woken + index + 1);
    }
    // For each release: the removal, the look at the queue by the waiter that is woken, and the question above. The rest are pings.
    expect((await zookeeper.metric('packets_received')) - received).toBeLessThan(50 * 4);
    expect(await zookeeper.metric('max_node_deleted_watch_count')).toBe(1);
    expect(order).toEqual(order.toSorted((one, other) => one - other));
    await holder.release();
  });

  it('has each waiter watch its predecessor only, also after that one has gone away', async () => {
    const open = () => zookeeper.openTimeless();
    const [a, b, c] = [open(), open(), open()];
    const lease = await hold(a);
    const second = new AbortController();
    const left = b.acquire(aRequest(key), second.signal);
    await zookeeper.standing(key, 2);
    let hasLast = false;
    const last = c.acquire(aRequest(key), noEnd()).finally(() => (hasLast = true));
    await zookeeper.standing(key, 3);
    const line = await zookeeper.line(key);
    const first = line[0]!;
    const watchedAtFirst = line.slice(0, 2).toSorted().join();
    await until(async () => (await watched()).join() === watchedAtFirst);
    second.abort(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    await until(async () => (await watched()).join() === `${first} ${first}`); // of b, too: a client cannot take a watch back
    await c.inspect(key); // c has dealt with all earlier messages
    expect(hasLast).toBe(false);
    await lease.release();
    await (await last).release();
  });

  it('does not let a waiter have the lock because the process before it has died', async () => {
    const [a, b, c] = [zookeeper.open(), zookeeper.open(), zookeeper.open()];
    const lease = await hold(a);
    const dead = b.acquire(aRequest(key), noEnd());
    const died = expect(dead).rejects.toThrow('the ZooKeeper session has ended');
    await zookeeper.standing(key, 2);
    let hasLast = false;
    const last = c.acquire(aRequest(key), noEnd()).finally(() => (hasLast = true));
    await zookeeper.standing(key, 3);
    await b.close();
    await died;
    await zookeeper.standing(key, 2);
    await c.inspect(key);
    expect(hasLast).toBe(false);
    await lease.release();
    await (await last).release();
  });

  it('finds a node again whose creation was not answered, and makes no other one', async () => {
    const store = await remote();
    await (await hold(store)).release(); // its line is there now
    zookeeper.proxy.replies.drop();
    const taken = hold(store);
    await zookeeper.standing(key, 1);
    zookeeper.proxy.cutAll();
    zookeeper.proxy.replies.pass();
    const lease = await taken;
    expect(await zookeeper.line(key)).toHaveLength(1);
    expect(await lease.release()).toBe(true);
    await zookeeper.standing(key, 0);
  });

  it('makes a node whose creation never reached the server', async () => {
    const store = await remote();
    const sent = zookeeper.proxy.requests.bytes;
    zookeeper.proxy.requests.drop();
    const taken = hold(store);
    await until(() => zookeeper.proxy.requests.bytes > sent);
    zookeeper.proxy.cutAll();
    zookeeper.proxy.requests.pass();
    expect(await (await taken).release()).toBe(true);
  });

  it('completes a release whose reply was lost', async () => {
    const lease = await hold(await remote());
    zookeeper.proxy.replies.drop();
    const released = lease.release();
    await zookeeper.standing(key, 0);
    zookeeper.proxy.cutAll();
    zookeeper.proxy.replies.pass();
    expect(await released).toBe(true);
  });

  it('completes a release that never reached the server, once there is a connection', async () => {
    const lease = await hold(await remote());
    zookeeper.proxy.refuse();
    zookeeper.proxy.cutAll();
    const released = lease.release();
    const next = zookeeper.open().acquire(aRequest(key), noEnd());
    await zookeeper.standing(key, 2);
    await zookeeper.proxy.accept();
    expect(await released).toBe(true);
    await (await next).release();
  });

  it('keeps the place of a waiter whose connection is lost while the lock is released', async () => {
    const lease = await hold();
    const store = await remote();
    const waiting = store.acquire(aRequest(key), noEnd());
    await zookeeper.standing(key, 2);
    zookeeper.proxy.refuse();
    zookeeper.proxy.cutAll();
    await lease.release();
    await zookeeper.proxy.accept();
    await (await waiting).release();
  });

  it('lets a waiter that is cut off for longer than its session stand in line again', async () => {
    const lease = await hold();
    const store = await remote(600);
    const waiting = store.acquire(aRequest(key), noEnd());
    await zookeeper.standing(key, 2);
    zookeeper.proxy.refuse();
    zookeeper.proxy.cutAll();
    await zookeeper.standing(key, 1);
    await zookeeper.proxy.accept();
    await zookeeper.standing(key, 2);
    await lease.release();
    await (await waiting).release();
  });

  it('leaves nothing behind when a wait is ended at any moment of it', async () => {
    const [a, b] = [zookeeper.open(), zookeeper.open()];
    const lease = await hold(a);
    for (let turns = 0; turns < 12; turns += 1) {
      const end = new AbortController();
      const waiting = b.acquire(aRequest(key), end.signal);
      const ended = expect(waiting).rejects.toThrow('enough');
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      end.abort(new Error('enough'));
      await ended;
    }
    expect(await zookeeper.line(key)).toHaveLength(1);
    await lease.release();
  });

  it('fails a wait with a clear error when another client deletes its node', async () => {
    const lease = await hold();
    const store = zookeeper.open({ sessionTimeout: 6_000 });
    const waiting = store.acquire(aRequest(key), noEnd());
    const ended = expect(waiting).rejects.toThrow(/was deleted at ZooKeeper/);
    await zookeeper.standing(key, 2);
    await zookeeper.remove(key, (await zookeeper.line(key))[1]!);
    await ended;
    await lease.release();
  });

  it('tells a holder when another client deletes its node', async () => {
    const lease = await hold(zookeeper.open({ sessionTimeout: 60_000 }));
    await zookeeper.remove(key, (await zookeeper.line(key))[0]!);
    await aborted(lease.lost!);
    expect(lease.lost!.reason).toMatchObject({ message: expect.stringContaining('was deleted') });
    expect(await lease.extend(1_000)).toBe(false);
    expect(await lease.release()).toBe(false);
  });
});
