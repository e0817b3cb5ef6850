import { LockStoreError } from 'nest-holdfast';
import { until } from '../../../support/until.js';
import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { aRequest } from '../../redis/locks.js';
import { evictUntilReleased } from '../../support/evictions.js';
import { RedlockNodes } from '../support/nodes.js';
import { RedlockInstance } from '../support/redlock-instance.js';

describe('On a Redlock of five nodes, an eviction', () => {
  let nodes: RedlockNodes;
  let holder: RedlockInstance;
  let operator: RedlockInstance;
  let key: string;
  let keys = 0;

  beforeEach(async () => {
    key = `order:${++keys}`;
    nodes = await RedlockNodes.start();
    [holder, operator] = await Promise.all([RedlockInstance.start(nodes), RedlockInstance.start(nodes)]); // prettier-ignore
  });
  afterEach(async () => {
    await holder[Symbol.asyncDispose]();
    await operator[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  it('takes the key at the nodes, and hands it to the next waiter', async () => {
    const lock = await holder.locks.acquire(key);
    const waiting = operator.locks.acquire(key);
    const { fencingToken } = lock;
    const eviction = await operator.locks.evict(key, { fencingToken, grace: 0 });
    expect(eviction).toMatchObject({ outcome: 'taken', tokenBefore: fencingToken });
    const next = await waiting;
    expect(eviction.tokenAfter! > fencingToken && next.fencingToken > eviction.tokenAfter!).toBe(true); // prettier-ignore
    await expect(lock.extend(30_000)).rejects.toMatchObject({ code: 'LOCK_LOST' });
    expect(await lock.release()).toBe(false);
    await next.extend(30_000);
    expect(await next.release()).toBe(true);
    await nodes.nothingLeft();
  });

  it('tells the holder, which has the key until its work has ended', async () => {
    const lock = await holder.locks.acquire(key);
    await lock.extend(30_000); // from now on its process listens
    const eviction = await evictUntilReleased(operator.locks, lock, operator.locks);
    expect(eviction).toMatchObject({ evicted: true, outcome: 'released' });
    await nodes.nothingLeft();
  });

  it('by the token of a holder that got the key inside its process asks that holder', async () => {
    const first = await holder.locks.acquire(key);
    const second = holder.locks.acquire(key);
    await first.release();
    const lock = await second; // has one of a block of tokens, which the counters are beyond
    await lock.extend(30_000);
    const { fencingToken } = lock;
    const missed = await operator.locks.evict(key, { fencingToken: first.fencingToken, grace: 0 });
    expect([missed.evicted, lock.isHeld]).toEqual([false, true]);
    const eviction = await operator.locks.evict(key, { fencingToken, grace: 0 });
    expect(eviction.outcome).toBe('taken');
    await until(() => lock.signal.aborted);
    expect(eviction.tokenAfter! > fencingToken + 64n).toBe(true);
    await lock.release();
    await nodes.nothingLeft();
  });

  it('by the token of a holder that was looked at, and has passed the key on inside its process, takes nothing', async () => {
    const first = await holder.locks.acquire(key);
    const second = holder.locks.acquire(key);
    await operator.locks.inspect(key);
    await first.release();
    const lock = await second;
    for (const grace of [0, 1_000]) {
      const { evicted } = await operator.locks.evict(key, { fencingToken: first.fencingToken, grace }); // prettier-ignore
      expect([evicted, lock.isHeld]).toEqual([false, true]);
    }
    await lock.extend(30_000);
    await lock.release();
    await nodes.nothingLeft();
  });

  it('is made while a minority is down, or has given the key to others', async () => {
    await nodes.servers[0]!.kill();
    await nodes.servers[1]!.command('SET', `lock:${key}`, 'theirs');
    await until(() => [holder, operator].every(({ clients }) => clients[0]!.status !== 'ready'));
    const lock = await holder.locks.acquire(key);
    const { fencingToken } = lock;
    const eviction = await operator.locks.evict(key, { fencingToken, grace: 0 });
    expect(eviction.outcome).toBe('taken');
    await expect(lock.extend(30_000)).rejects.toMatchObject({ code: 'LOCK_LOST' });
    const next = await operator.locks.acquire(key);
    expect(next.fencingToken > eviction.tokenAfter!).toBe(true);
    await next.release();
    expect(await nodes.servers[1]!.command('GET', `lock:${key}`)).toBe('theirs');
  });

  it('takes the key at a node, too, that granted it late and with another token', async () => {
    const ahead = { ...aRequest(key), fencingFloor: BigInt(Date.now() + 60_000) * 1_000n };
    for (const store of operator.stores.slice(0, 4))
      await (await store.tryAcquire(ahead))!.release();
    await using proxy = await TcpProxy.start(nodes.servers[4]!.port);
    const urls = [...nodes.servers.slice(0, 4).map(({ url }) => url), proxy.url];
    await using late = await RedlockInstance.start(nodes, { urls });
    proxy.replies.hold();
    const { fencingToken } = await late.locks.acquire(key);
    proxy.pass();
    await until(async () => (await nodes.having(key)).includes(4));
    const eviction = await operator.locks.evict(key, { fencingToken, grace: 0 });
    expect(eviction.outcome).toBe('taken');
    expect(await nodes.having(key)).toEqual([]);
  });

  it('takes nothing for good where a majority is down', async () => {
    const { fencingToken } = await holder.locks.acquire(key);
    for (const server of nodes.servers.slice(0, 3)) await server.kill();
    await until(() => operator.clients.filter(({ status }) => status !== 'ready').length === 3);
    const evicted = operator.locks.evict(key, { fencingToken, grace: 0 });
    await expect(evicted).rejects.toBeInstanceOf(LockStoreError);
    await expect(evicted).rejects.toThrow('2 of 5 nodes answered, 3 were needed');
  });
});
