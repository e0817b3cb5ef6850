import { NodeLeases } from '../../../../lib/stores/redlock/claim/node-leases';
import { RedlockNode } from '../../../../lib/stores/redlock/node/redlock-node';
import { FakeClock } from 'nest-holdfast/testing';
import { aRequest } from '../../redis/locks';
import { StubNode } from '../support/stub-node';
import { settled } from '../support/stub-quorum';

describe('The grants of nodes to one holder', () => {
  const own = () => {
    const clock = new FakeClock();
    const store = new StubNode(clock);
    const node = new RedlockNode('a', store, clock, () => undefined);
    return { store, node, leases: new NodeLeases(), request: aRequest('order:42') };
  };

  it('is not asked for again while a node has not answered: a failure would take back what was granted since', async () => {
    const { store, node, leases, request } = own();
    store.stop();
    const first = leases.ask(node, request);
    const second = leases.ask(node, request);
    expect(second).toBe(first);
    store.pass();
    expect(await second).toBeDefined();
    leases.answered(node);
    expect(store.calls).toEqual(['acquire']);
  });

  it('is asked for again once it has', async () => {
    const { store, node, leases, request } = own();
    await leases.offer(node, request);
    leases.delete(node);
    await leases.offer(node, request);
    expect(store.calls).toEqual(['acquire', 'acquire']);
  });

  it('is expected while the answer is on its way', async () => {
    const { node, leases, request } = own();
    expect(leases.expected(node)).toBeUndefined();
    const answer = leases.ask(node, request);
    expect(leases.expected(node)).toBe(answer);
    leases.answered(node);
    leases.set(node, (await answer)!);
    expect(leases.expected(node)).toBe(await answer);
  });

  it('goes back when it comes after the end', async () => {
    const { store, node, leases, request } = own();
    leases.end();
    leases.set(node, (await leases.ask(node, request))!);
    await settled();
    expect(await store.holder('order:42')).toBeUndefined();
  });

  it('is kept from an offer, unless the node has another by then, or it is malformed', async () => {
    const { store, node, leases, request } = own();
    await leases.offer(node, request);
    const first = leases.get(node)!;
    await leases.offer(node, request);
    expect(leases.get(node)).toBe(first);
    leases.delete(node);
    store.tryAcquire = () => Promise.resolve({} as never);
    await leases.offer(node, request);
    expect(leases.get(node)).toBeUndefined();
    expect(leases.expected(node)).toBeUndefined();
  });

  it('goes back when an offer is granted after the end', async () => {
    const { store, node, leases, request } = own();
    store.holdReplies();
    const offered = leases.offer(node, request);
    leases.end();
    store.pass();
    await offered;
    await settled();
    expect(await store.holder('order:42')).toBeUndefined();
    expect(store.calls).toEqual(['acquire', 'release']);
  });

  it('is asked at once where it is there, and after its answer where that is on its way', async () => {
    const { store, node, leases, request } = own();
    expect(leases.askHolder(node, (lease) => lease.release())).toBeUndefined();
    store.holdReplies();
    const answer = leases.ask(node, request);
    const asked = leases.askHolder(node, (lease) => lease.extend(5));
    store.pass();
    expect(await asked).toBe(true);
    leases.answered(node);
    leases.set(node, (await answer)!);
    expect(await leases.askHolder(node, (lease) => lease.release())).toBe(true);
  });

  it('is not asked when the answer that was on its way is a refusal', async () => {
    const { store, node, leases, request } = own();
    await store.occupy('order:42');
    void leases.ask(node, request);
    const ask = jest.fn();
    expect(await leases.askHolder(node, ask)).toBeUndefined();
    expect(ask).not.toHaveBeenCalled();
  });

  it('can raise a counter from the token that it has, or a larger one', () => {
    const { node, leases } = own();
    const lease = { extend: jest.fn(), release: jest.fn(), fencingToken: 7n };
    leases.set(node, lease);
    expect(leases.raisers(7n)).toEqual([]);
    leases.set(node, { ...lease, raiseFencing: jest.fn() });
    expect([6n, 7n, 8n].map((from) => leases.raisers(from))).toEqual([[], [node], [node]]);
    leases.set(node, { ...lease, raiseFencing: jest.fn(), fencingToken: undefined });
    expect([-1n, 0n].map((from) => leases.raisers(from))).toEqual([[], [node]]);
  });

  it('is released at the end, once, and at no node that is overloaded', async () => {
    const { store, node, leases, request } = own();
    leases.set(node, (await store.tryAcquire(request))!);
    const heard = jest.fn();
    leases.onEnd(heard);
    for (let call = 0; call < 1_000; call++) node.asked();
    node.missed(false);
    leases.abandon();
    leases.abandon();
    leases.end();
    expect(heard).toHaveBeenCalledTimes(1);
    expect(store.calls).toEqual(['acquire']);
    const other = own();
    other.leases.set(other.node, (await other.store.tryAcquire(other.request))!);
    other.leases.abandon();
    other.leases.abandon();
    expect(other.store.calls).toEqual(['acquire', 'release']);
  });

  it('that cannot be given back is left to its ttl', async () => {
    const { node, leases } = own();
    leases.set(node, { extend: jest.fn(), release: () => Promise.reject(new Error('down')) });
    leases.abandon();
    await settled();
    expect(leases.hasEnded).toBe(true);
  });
});
