import type { Lease } from 'nest-holdfast/core';
import { NodeLeases } from '../../../../lib/stores/redlock/claim/node-leases';
import { QueueNodes } from '../../../../lib/stores/redlock/claim/queue-nodes';
import { take } from '../../../../lib/stores/redlock/claim/claim';
import { RedlockLease } from '../../../../lib/stores/redlock/lease/redlock-lease';
import { QuorumError } from '../../../../lib/stores/redlock/vote/quorum';
import { deferred, rejectionOf } from '../../../core/support/outcome';
import { aRequest } from '../../redis/locks';
import { queueQuorum } from '../support/quorum-of';
import { settled } from '../support/stub-quorum';

const KEY = 'order:42';
const TTL = 10_000;

function own() {
  const setup = queueQuorum(3);
  const { quorum, stores } = setup;
  const asked = aRequest(KEY, TTL);
  const claim = { asked, request: asked, isPatient: false };
  const leases = new NodeLeases();
  const queueNodes = new QueueNodes(quorum);
  const used = jest.fn();
  const context = { quorum, queueNodes, used };
  const granted = async () => {
    const token = (await take(quorum, claim, leases))!;
    return new RedlockLease(claim, leases, context, { own: token, last: token });
  };
  const claimed = () => new RedlockLease({ ...claim, isPatient: true }, leases, context);
  const holders = () => Promise.all(stores.map((store) => store.holder(KEY)));
  const remaining = async () =>
    Promise.all(stores.map(async (store) => (await store.inspect(KEY))?.remaining));
  return { ...setup, claim, asked, leases, queueNodes, used, granted, claimed, holders, remaining };
}

const NOWHERE = [undefined, undefined, undefined];

describe('A lease of a majority', () => {
  it('has the token of its vote, and none where the nodes have none', async () => {
    const { granted, quorum, leases, nodes } = own();
    const lease = await granted();
    expect(lease.fencingToken).toBe(leases.get(nodes[0]!)!.fencingToken);
    Object.assign(quorum, { fences: false });
    expect(lease.fencingToken).toBeUndefined();
  });

  it('is extended at all nodes, and says for how long', async () => {
    const { granted, used, clock, remaining, leases } = own();
    const lease = await granted();
    await clock.advance(1_000);
    expect(await lease.extend(2 * TTL)).toBe(true);
    expect(used.mock.calls).toEqual([[2 * TTL]]);
    expect(await remaining()).toEqual([2 * TTL, 2 * TTL, 2 * TTL]);
    expect(leases.validUntil).toBe(clock.now() + 2 * TTL);
  });

  it('may end by the shorter ttl of an extension that has no answer yet', async () => {
    const { granted, stores, leases, clock } = own();
    const lease = await granted();
    for (const store of stores) store.holdReplies();
    const extended = lease.extend(1_000);
    expect(leases.validUntil).toBe(clock.now() + 1_000);
    for (const store of stores) store.pass();
    expect(await extended).toBe(true);
  });

  it('is over everywhere when a majority has lost it', async () => {
    const { granted, stores, holders, leases } = own();
    const lease = await granted();
    for (const store of stores.slice(1)) store.forget();
    expect(await lease.extend(TTL)).toBe(false);
    await settled();
    expect(await holders()).toEqual(NOWHERE);
    expect(leases.hasEnded).toBe(true);
  });

  it('takes a node that refuses the key only now for one that does not hold it', async () => {
    const { granted, stores, nodes, leases, asked } = own();
    const lease = await granted();
    leases.delete(nodes[2]!);
    stores[2]!.forget();
    await stores[2]!.occupy(KEY);
    stores[2]!.holdReplies();
    void leases.ask(nodes[2]!, asked);
    stores[1]!.fail(new Error('down'));
    const failed = rejectionOf<QuorumError>(lease.extend(TTL));
    stores[2]!.pass();
    const { report } = await failed;
    expect(report.ended).toBe('1 of 3 nodes extended, 2 were needed');
    const said = report.nodes.map((each) => each.said);
    expect(said).toEqual(['extended', 'error down', 'not held there']);
  });

  it('is not forgotten at a node that has granted it anew, when an extension there fails late', async () => {
    const { granted, nodes, leases, clock } = own();
    const lease = await granted();
    const extended = deferred<boolean>();
    jest.spyOn(leases.get(nodes[2]!)!, 'extend').mockReturnValue(extended.promise);
    expect(await lease.extend(TTL)).toBe(true);
    const anew = { extend: jest.fn(), release: jest.fn() };
    leases.set(nodes[2]!, anew);
    extended.resolve(false);
    await clock.advance(0);
    expect(leases.get(nodes[2]!)).toBe(anew);
  });

  it('is released at the nodes that have it, and no failure at the others', async () => {
    const { granted, nodes, leases, stores } = own();
    const lease = await granted();
    leases.delete(nodes[2]!);
    stores[1]!.fail(new Error('down'));
    const { report } = await rejectionOf<QuorumError>(lease.release());
    expect(report.nodes.map((each) => each.said)).toEqual([
      'released',
      'error down',
      'not held there',
    ]);
  });

  it('is asked for again at a node that has lost it, and at none that has no vote', async () => {
    const { granted, stores, nodes, holders } = own();
    const lease = await granted();
    for (const store of stores.slice(1)) store.calls.length = 0;
    stores[2]!.forget();
    nodes[1]!.record = { isKnown: true, bar: 'quarantined' };
    await lease.extend(TTL).catch(() => undefined);
    nodes[1]!.record = undefined;
    await lease.extend(TTL);
    await settled();
    expect(stores[1]!.calls).toEqual(['extend']);
    expect(stores[2]!.calls).toEqual(['extend', 'acquire']);
    const [first, ...others] = await holders();
    expect(others).toEqual([first, first]);
  });

  it('is renewed for a request, with a token of at least its floor', async () => {
    const { granted, asked, remaining } = own();
    const lease = await granted();
    const fencingFloor = lease.fencingToken! + 1_000_000_000n;
    expect(await lease.renew({ ...asked, ttl: 3 * TTL, fencingFloor })).toBe(true);
    expect(lease.fencingToken! >= fencingFloor).toBe(true);
    expect(await remaining()).toEqual([3 * TTL, 3 * TTL, 3 * TTL]);
  });

  it('is not renewed once others have the key', async () => {
    const { granted, asked, stores, holders } = own();
    const lease = await granted();
    for (const store of stores) {
      store.forget();
      await store.occupy(KEY);
    }
    const { fencingToken } = lease;
    expect(await lease.renew(asked)).toBe(false);
    expect(lease.fencingToken).toBe(fencingToken);
    expect(await holders()).toEqual(['somebody', 'somebody', 'somebody']);
  });

  it('is not renewed after its release', async () => {
    const { granted, asked, holders } = own();
    const lease = await granted();
    expect(await lease.release()).toBe(true);
    expect(await lease.renew(asked)).toBe(false);
    expect(await holders()).toEqual(NOWHERE);
  });

  it('is released once, also at a node without a vote, which counts', async () => {
    const { granted, nodes, holders, leases } = own();
    const lease = await granted();
    for (const node of nodes.slice(1)) node.record = { isKnown: true, bar: 'quarantined' };
    expect(await lease.release()).toBe(true);
    expect(await holders()).toEqual(NOWHERE);
    expect(leases.hasEnded).toBe(true);
    expect(await lease.release()).toBe(false);
  });

  it('tells the nodes by a function whether it may have ended', async () => {
    const { granted, leases, nodes } = own();
    const lease = await granted();
    const released = nodes.map((node) => jest.spyOn(leases.get(node)!, 'release'));
    const isValid = () => true;
    await lease.release(isValid);
    for (const each of released) expect(each.mock.calls).toEqual([[isValid]]);
  });

  it('that a majority has lost is not released by the caller', async () => {
    const { granted, stores } = own();
    const lease = await granted();
    for (const store of stores.slice(1)) store.forget();
    expect(await lease.release()).toBe(false);
  });

  it.each([
    ['which keeps its keys', undefined, true],
    ['which has lost its keys', 2, false],
  ])('retires by an extension where a node knows nothing else, %s', async (_, lost, expected) => {
    const { granted, stores, remaining } = own();
    const lease = await granted();
    for (const store of stores.slice(0, lost ?? 0)) store.forget();
    expect(await lease.retire(500)).toBe(expected);
    if (expected) expect(await remaining()).toEqual([500, 500, 500]);
  });

  it('retires at a node that knows how', async () => {
    const { granted, leases, nodes } = own();
    const lease = await granted();
    const retire = jest.fn().mockResolvedValue(true);
    const extend = nodes.map((node) => jest.spyOn(leases.get(node)!, 'extend'));
    for (const node of nodes) Object.assign(leases.get(node)!, { retire });
    expect(await lease.retire(500)).toBe(true);
    expect(retire.mock.calls).toEqual([[500], [500], [500]]);
    for (const each of extend) expect(each).not.toHaveBeenCalled();
  });

  it('retires with the report of its nodes where too few answer', async () => {
    const { granted, stores } = own();
    const lease = await granted();
    for (const store of stores.slice(1)) store.fail(new Error('down'));
    const { report } = await rejectionOf<QuorumError>(lease.retire(500));
    expect(report.ended).toMatch(/^[01] of 3 nodes retired, 2 were needed$/);
  });
});

describe('The claim of a waiter, at its first extension,', () => {
  /** The first node has handed the key to the waiter. */
  async function woken() {
    const setup = own();
    const { leases, nodes, stores, claim } = setup;
    leases.set(nodes[0]!, (await stores[0]!.tryAcquire(claim.request)) as Lease);
    return { ...setup, lease: setup.claimed() };
  }

  it('takes the key at the other nodes, and is no failure', async () => {
    const { lease, holders, queueNodes, asked, remaining } = await woken();
    expect(lease.fencingToken).toBe(0n);
    expect(await lease.extend(TTL / 2)).toBe(true);
    expect(lease.fencingToken! > 0n).toBe(true);
    const [first, ...others] = await holders();
    expect([first, ...others]).toEqual([expect.any(String), first, first]);
    expect(await remaining()).toEqual([TTL / 2, TTL / 2, TTL / 2]);
    expect(queueNodes.backoff.pauseOf(asked)).toBe(0);
  });

  it('is lost where others stay first, and the waiter pauses', async () => {
    const { lease, stores, clock, queueNodes, asked, holders } = await woken();
    for (const store of stores.slice(1)) await store.occupy(KEY);
    const extended = lease.extend(TTL);
    await clock.advance(100);
    expect(await extended).toBe(false);
    jest.spyOn(Math, 'random').mockReturnValue(1);
    expect(queueNodes.backoff.pauseOf(asked)).toBe(50);
    jest.restoreAllMocks();
    expect(await holders()).toEqual([undefined, 'somebody', 'somebody']);
  });

  it('is lost where too few nodes answer, and fails when that goes on', async () => {
    const { lease, stores, queueNodes, asked, clock } = await woken();
    for (const store of stores.slice(1)) store.fail(new Error('down'));
    expect(await lease.extend(TTL)).toBe(false);
    expect(queueNodes.backoff.failed(asked)).toBe(true);
    clock.jump(2_000);
    const next = await woken();
    for (const store of next.stores.slice(1)) store.fail(new Error('down'));
    next.queueNodes.backoff.failed(next.asked);
    next.queueNodes.backoff.failed(next.asked);
    next.clock.jump(2_000);
    expect(await rejectionOf(next.lease.extend(TTL))).toBeInstanceOf(QuorumError);
  });
});
