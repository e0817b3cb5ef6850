import type { FencingRange, HandedOffLease, Lease } from 'nest-holdfast/core';
import type { RedlockNode } from '../../../../lib/stores/redlock/node/redlock-node';
import { NodeLeases } from '../../../../lib/stores/redlock/claim/node-leases';
import { QueueNodes } from '../../../../lib/stores/redlock/claim/queue-nodes';
import { RedlockLease } from '../../../../lib/stores/redlock/lease/redlock-lease';
import { QuorumError } from '../../../../lib/stores/redlock/vote/quorum';
import { deferred, watch } from '../../../core/support/outcome';
import { aRequest } from '../../redis/locks';
import { queueQuorum } from '../support/quorum-of';
import { settled } from '../support/stub-quorum';

const TTL = 10_000;
const TOKEN = 100n;
const BLOCK = 64n;

/** A node's grant, whose answers are those of a node that is well, unless a test says otherwise. */
class NodeLease implements Lease {
  fencingToken: bigint | undefined = TOKEN;
  readonly extend = jest.fn<Promise<boolean>, [number]>(async () => true);
  readonly release = jest.fn<Promise<boolean>, []>(async () => true);
  raiseFencing? = jest.fn<Promise<boolean>, [FencingRange]>(async () => true);
  readonly handOffRaising = jest.fn<HandedOffLease, [number, boolean, FencingRange]>();
}

/** A lease that three nodes have granted, and the one at which its key is queued for. */
function own() {
  const { quorum, nodes, links, clock } = queueQuorum(3);
  const request = aRequest('a', TTL);
  const claim = { asked: request, request, isPatient: false };
  const leases = new NodeLeases();
  const granted = new Map(nodes.map((node) => [node, new NodeLease()]));
  for (const [node, each] of granted) leases.set(node, each);
  const queueNodes = new QueueNodes(quorum);
  const used = jest.fn();
  const context = { quorum, queueNodes, used };
  const lease = new RedlockLease(claim, leases, context, { own: TOKEN, last: TOKEN });
  const queueNode = queueNodes.of('a')!;
  const others = nodes.filter((node) => node !== queueNode);
  const at = (node: RedlockNode) => granted.get(node)!;
  const { handOffRaising } = at(queueNode);
  const link = links[nodes.indexOf(queueNode)]!;
  return {
    clock,
    quorum,
    nodes,
    links,
    link,
    leases,
    lease,
    queueNode,
    others,
    at,
    handOffRaising,
    used,
  };
}

describe('The first hand-off of a lease inside a process', () => {
  it('renews it at the queue node, and reserves a block of fencing tokens', () => {
    const { lease, handOffRaising, used } = own();
    expect(lease.handOff(TTL, false)).toBeUndefined();
    expect(handOffRaising.mock.calls).toEqual([[TTL, true, { from: TOKEN, to: TOKEN + BLOCK }]]);
    expect(used.mock.calls).toEqual([[TTL]]);
  });

  it('renews it at the other nodes meanwhile, and gives the next holder the next token', async () => {
    const { lease, handOffRaising, others, at, leases, queueNode, clock } = own();
    const answer = deferred<Lease | undefined>();
    handOffRaising.mockReturnValue(answer.promise);
    const outcome = watch(lease.handOff(TTL, false) as Promise<Lease>);
    for (const node of others) {
      expect(at(node).extend.mock.calls).toEqual([[TTL]]);
      expect(at(node).raiseFencing!.mock.calls).toEqual([[{ from: TOKEN, to: TOKEN + BLOCK }]]);
    }
    expect(at(queueNode).extend).not.toHaveBeenCalled();
    await settled();
    expect(outcome.status).toBe('pending'); // it waits a little for the queue node
    const next = new NodeLease();
    answer.resolve(next);
    await settled();
    expect(outcome.value!.fencingToken).toBe(TOKEN + 1n);
    expect(leases.get(queueNode)).toBe(next);
    expect(leases.validUntil).toBe(clock.now() + TTL);
    expect(await lease.release()).toBe(false); // it has been handed off
    expect(next.release).not.toHaveBeenCalled();
  });

  it('waits no longer than a tenth of a second for the queue node', async () => {
    const { lease, handOffRaising, clock } = own();
    handOffRaising.mockReturnValue(new Promise(() => {}));
    const outcome = watch(lease.handOff(TTL, false) as Promise<Lease>);
    await clock.advance(99);
    expect(outcome.status).toBe('pending');
    await clock.advance(1);
    await settled();
    expect(outcome.value!.fencingToken).toBe(TOKEN + 1n);
  });

  it.each([
    ['extended', 'extend'],
    ['given its tokens', 'raiseFencing'],
  ] as const)('ends it where a majority has not %s it', async (_, verb) => {
    const { lease, handOffRaising, others, at, leases } = own();
    handOffRaising.mockReturnValue(Promise.resolve(new NodeLease()));
    for (const node of others) at(node)[verb]!.mockResolvedValue(false);
    const outcome = watch(lease.handOff(TTL, false) as Promise<Lease | undefined>);
    await settled();
    expect(outcome).toMatchObject({ status: 'fulfilled', value: undefined });
    expect(leases.hasEnded).toBe(true);
    if (verb === 'raiseFencing')
      for (const node of others) expect(at(node).release).toHaveBeenCalledTimes(1);
  });

  it('ends it, with a report, where too few nodes answer', async () => {
    const { lease, handOffRaising, others, at, leases } = own();
    const next = new NodeLease();
    handOffRaising.mockReturnValue(Promise.resolve(next));
    for (const node of others) at(node).extend.mockRejectedValue(new Error('down'));
    const outcome = watch(lease.handOff(TTL, false) as Promise<Lease | undefined>);
    await settled();
    const { report } = outcome.error as QuorumError;
    expect(report.ended).toBe('1 of 3 nodes renewed, 2 were needed');
    expect(report.nodes.map(({ said }) => said).toSorted()).toEqual(['error down', 'error down', 'renewed']); // prettier-ignore
    expect(leases.hasEnded).toBe(true);
    expect(next.release).toHaveBeenCalledTimes(1);
  });

  it('takes a node that knows no raise for one that has not made it', async () => {
    const { lease, handOffRaising, others, at } = own();
    handOffRaising.mockReturnValue(Promise.resolve(new NodeLease()));
    at(others[0]!).extend.mockResolvedValue(false);
    delete at(others[1]!).raiseFencing;
    const outcome = watch(lease.handOff(TTL, false) as Promise<Lease | undefined>);
    await settled();
    expect(outcome).toMatchObject({ status: 'fulfilled', value: undefined });
  });

  it('says which node did not hold it any more', async () => {
    const { lease, handOffRaising, others, at } = own();
    handOffRaising.mockReturnValue(Promise.resolve(undefined));
    at(others[0]!).extend.mockRejectedValue(new Error('down'));
    at(others[1]!).extend.mockRejectedValue(new Error('down'));
    const outcome = watch(lease.handOff(TTL, false) as Promise<Lease | undefined>);
    await settled();
    const { report } = outcome.error as QuorumError;
    expect(report.nodes.map(({ said }) => said)).toContain('not held there');
  });

  it('is not made by a claim', () => {
    const { leases, handOffRaising, quorum } = own();
    const request = aRequest('a', TTL);
    const context = { quorum, queueNodes: new QueueNodes(quorum), used: jest.fn() };
    const claim = new RedlockLease({ asked: request, request, isPatient: true }, leases, context);
    expect(claim.handOff(TTL, false)).toBeUndefined();
    expect(handOffRaising).not.toHaveBeenCalled();
  });

  it.each<[string, (setup: ReturnType<typeof own>) => void]>([
    ['is away', ({ link }) => link.disconnect()],
    [
      'is unknown, for all nodes are away,',
      ({ links }) => links.forEach((link) => link.disconnect()),
    ],
    ['has no vote', ({ queueNode }) => (queueNode.record = { isKnown: true, bar: 'quarantined' })],
    ['has not granted the key', ({ leases, queueNode }) => leases.delete(queueNode)],
    ['has a counter beyond its token', ({ at, queueNode }) => (at(queueNode).fencingToken = 101n)],
    ['cannot raise its counter', ({ at, queueNode }) => delete at(queueNode).raiseFencing],
    [
      'is behind',
      ({ queueNode }) => {
        for (let call = 0; call < 1_000; call++) queueNode.asked();
        queueNode.missed(false);
      },
    ],
  ])('is not made where the queue node %s', (_, prepare) => {
    const setup = own();
    prepare(setup);
    expect(setup.lease.handOff(TTL, false)).toBeUndefined();
    expect(setup.handOffRaising).not.toHaveBeenCalled();
  });

  it('is not made where no majority can raise its counters', () => {
    const { lease, others, at, handOffRaising } = own();
    at(others[0]!).fencingToken = TOKEN + 1n;
    void lease.handOff(TTL, false);
    expect(handOffRaising).toHaveBeenCalledTimes(1);
    at(others[1]!).fencingToken = TOKEN + 1n;
    expect(lease.handOff(TTL, false)).toBeUndefined();
    expect(handOffRaising).toHaveBeenCalledTimes(1);
  });

  it('leaves it to its holder where the queue node refuses', async () => {
    const { lease, at, queueNode } = own();
    expect(lease.handOff(TTL, true)).toBeUndefined();
    expect(await lease.release()).toBe(true);
    expect(at(queueNode).release).toHaveBeenCalledTimes(1);
  });
});

describe('A further hand-off', () => {
  /** A lease that was handed off once. */
  async function handedOff() {
    const setup = own();
    const { lease, handOffRaising } = setup;
    const node = new NodeLease();
    handOffRaising.mockReturnValue(Promise.resolve(node));
    const second = (await lease.handOff(TTL, false)) as RedlockLease;
    return { ...setup, node, second };
  }

  it('takes one of the reserved tokens, and asks no node', async () => {
    const { node, second, leases, queueNode, others, at } = await handedOff();
    const next = new NodeLease();
    node.handOffRaising.mockReturnValue(next);
    const third = second.handOff(TTL, false) as Lease;
    const reserved = TOKEN + BLOCK;
    expect(node.handOffRaising.mock.calls).toEqual([[TTL, false, { from: reserved, to: reserved }]]); // prettier-ignore
    expect(third.fencingToken).toBe(TOKEN + 2n);
    expect(leases.get(queueNode)).toBe(next);
    for (const each of others) expect(at(each).extend).toHaveBeenCalledTimes(1);
    expect(await second.release()).toBe(false);
  });

  it('renews the lease where it is told to, with the same block', async () => {
    const { node, second } = await handedOff();
    void second.handOff(TTL, true);
    const reserved = TOKEN + BLOCK;
    expect(node.handOffRaising.mock.calls).toEqual([[TTL, true, { from: reserved, to: reserved }]]); // prettier-ignore
  });

  it('reserves the next block after the last token', async () => {
    let { node, second: lease } = await handedOff();
    while (lease.fencingToken! < TOKEN + BLOCK) {
      const next = new NodeLease();
      node.handOffRaising.mockReturnValue(next);
      lease = lease.handOff(TTL, false) as RedlockLease;
      node = next;
    }
    void lease.handOff(TTL, false);
    const last = TOKEN + BLOCK;
    expect(node.handOffRaising.mock.calls).toEqual([[TTL, true, { from: last, to: last + BLOCK }]]);
  });
});
