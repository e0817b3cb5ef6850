import { MemoryLockStore } from 'nest-holdfast/core';
import type { LockStore } from 'nest-holdfast/core';
import { RedlockStore } from 'nest-holdfast/redlock';
import { FakeClock } from 'nest-holdfast/testing';
import { aRequest } from '../redis/locks';
import { queueQuorum } from './support/quorum-of';
import { settled, stubQuorum } from './support/stub-quorum';

const OLD = 60_000;
const memoryNodes = (clock: FakeClock) =>
  Array.from({ length: 3 }, (): LockStore => new MemoryLockStore(clock));

describe('An attempt at a Redlock', () => {
  /** The owner tokens that the first node was asked with. */
  function own() {
    const { store, nodes } = stubQuorum(3);
    const tokens: string[] = [];
    const tryAcquire = nodes[0]!.tryAcquire.bind(nodes[0]);
    nodes[0]!.tryAcquire = (request) => {
      tokens.push(request.token);
      return tryAcquire(request);
    };
    return { store, nodes, tokens };
  }

  it('has a new owner token after one that was refused, and its own one after one that was granted', async () => {
    const { store, nodes, tokens } = own();
    const request = aRequest('a');
    const theirs = await Promise.all(nodes.map((node) => node.occupy('a')));
    expect(await store.tryAcquire(request)).toBeUndefined();
    for (const lease of theirs) await lease.release();
    expect(await store.tryAcquire(request)).toBeDefined();
    expect(await store.tryAcquire({ ...request })).toBeUndefined();
    expect(tokens[0]).toBe(request.token);
    expect(tokens[1]).not.toBe(request.token);
    const other = aRequest('b');
    await store.tryAcquire(other);
    await store.tryAcquire(other);
    expect(tokens.slice(-2)).toEqual([other.token, other.token]);
  });

  it('has a new owner token after one that has failed', async () => {
    const { store, nodes, tokens } = own();
    const request = aRequest('a');
    for (const node of nodes) node.fail(new Error('down'));
    await store.tryAcquire(request).catch(() => undefined);
    await store.tryAcquire(request).catch(() => undefined);
    expect(tokens).toEqual([request.token, expect.any(String)]);
    expect(tokens[1]).not.toBe(request.token);
  });

  it('takes the other keys of a caller that has got one of them from its queue', async () => {
    const { clock, stores } = queueQuorum(3);
    const store = new RedlockStore(stores, { clock, quarantine: false });
    const asked = aRequest(['a', 'b']);
    const waiting = store.acquire!({ ...asked, keys: ['a'] }, new AbortController().signal);
    await settled();
    const queueNode = stores.find(({ line }) => line.length > 0)!;
    await queueNode.handOff();
    const claim = await waiting;
    expect(await claim.extend(30_000)).toBe(true);
    const lease = (await store.tryAcquire(asked))!;
    for (const key of ['a', 'b'])
      for (const node of stores) expect(await node.holder(key)).toBeDefined();
    expect(await lease.release()).toBe(true);
    for (const key of ['a', 'b'])
      for (const node of stores) expect(await node.holder(key)).toBeUndefined();
    await clock.advance(5_000);
    expect(clock.pendingTimers).toBe(0); // the servers are looked at no more
  });
});

describe('A Redlock', () => {
  it('can list and evict where all of its nodes can', async () => {
    const clock = new FakeClock(50_000);
    const store = new RedlockStore(memoryNodes(clock), { clock });
    const lease = (await store.tryAcquire(aRequest('a')))!;
    const { locks } = await store.list!({ limit: 5 });
    expect(locks.map(({ key }) => key)).toEqual(['a']);
    const named = { key: 'a', fencingToken: lease.fencingToken! };
    expect(await store.askHolder!(named, 0)).toMatchObject({ state: 'held' });
    const { fencingToken } = named;
    const answer = await store.evict!({ ...aRequest('a'), fencingToken });
    expect(answer).toMatchObject({ state: 'taken' });
    expect(answer.taken!.fencingToken! > fencingToken).toBe(true);
    expect(await lease.extend(5)).toBe(false);
    expect(await answer.taken!.release()).toBe(true);
  });

  it.each(['list', 'evict', 'askHolder'] as const)('cannot where a node has no `%s`', (method) => {
    const clock = new FakeClock();
    const nodes = memoryNodes(clock);
    Object.assign(nodes[1]!, { [method]: undefined });
    const store = new RedlockStore(nodes, { clock });
    const able = [store.list, store.evict, store.askHolder].map((each) => each !== undefined);
    expect(able).toEqual(method === 'list' ? [false, true, true] : [true, false, false]);
  });

  it('has a queue where one of its nodes has', () => {
    const { clock, stores } = queueQuorum(3);
    for (const store of stores.slice(1)) Object.assign(store, { acquire: undefined });
    expect(new RedlockStore(stores, { clock }).acquire).toBeDefined();
  });

  it('queues for several keys, whatever its nodes do', () => {
    const clock = new FakeClock();
    expect(new RedlockStore(memoryNodes(clock), { clock }).supports.queuesManyKeys).toBe(true);
  });

  it('says in which state its nodes are, without a question', async () => {
    const { store, links, nodes } = stubQuorum(3, { upFor: [OLD, OLD, 0] });
    await settled();
    links[1]!.disconnect();
    expect(store.nodes()).toEqual([
      { node: 'a', state: 'up' },
      { node: 'b', state: 'disconnected' },
      { node: 'c', state: 'quarantined' },
    ]);
    expect(nodes.flatMap(({ calls }) => calls)).toEqual([]);
  });

  it('counts its nodes once they are known', async () => {
    const { store, links, clock } = stubQuorum(3, { upFor: [OLD, OLD, OLD] });
    for (const link of links.slice(1)) link.disconnect();
    for (const link of links.slice(1)) link.hold();
    const counted = store.countNodes();
    for (const link of links) link.pass();
    for (const link of links.slice(1)) link.connect();
    await clock.advance(0);
    expect(await counted).toEqual({ up: 3, needed: 2, total: 3 });
  });

  it('lets its nodes look for settings that may lose locks', () => {
    const { store, nodes } = stubQuorum(3);
    const checkServers = jest.fn();
    Object.assign(nodes[1]!, { checkServers });
    const tell = jest.fn();
    store.checkServers(tell);
    expect(checkServers.mock.calls).toEqual([[tell]]);
  });

  it('tells its nodes that they are part of a quorum', () => {
    const clock = new FakeClock();
    const nodes = memoryNodes(clock);
    const joinQuorum = jest.fn();
    Object.assign(nodes[1]!, { joinQuorum });
    expect(new RedlockStore(nodes, { clock }).nodes()[1]).toEqual({
      node: 'memory 2',
      state: 'up',
    });
    expect(joinQuorum).toHaveBeenCalledTimes(1);
  });
});
