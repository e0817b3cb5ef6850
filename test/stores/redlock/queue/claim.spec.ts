import type { LockStoreError } from 'nest-holdfast/core';
import { KEY, except, release, waiting } from '../support/queue-quorum';
import { settled } from '../support/stub-quorum';

/** Milliseconds after which a waiter hears of failures. */
const LONGEST_FAILURE = 2_000;

describe('A caller who was woken by the queue node', () => {
  it('asks again when the holder before it has not left the other nodes yet', async () => {
    const { nodes, theirs, outcome, queueNode, clock } = await waiting();
    await release([theirs[nodes.indexOf(queueNode)]!]);
    await queueNode.handOff();
    await settled();
    expect(outcome.status).toBe('pending');
    await release(theirs);
    await clock.advance(4);
    await settled();
    expect(outcome.value?.isHeld).toBe(true);
    expect(nodes.flatMap(({ calls }) => calls)).not.toContain('raise'); // all nodes have the same token
    expect(await outcome.value!.release()).toBe(true);
    for (const node of nodes) expect(await node.holder(KEY)).toBeUndefined();
  });

  it('takes the key at a majority, and leaves the other nodes to their holders', async () => {
    const { nodes, theirs, outcome, queueNode } = await waiting();
    const [first, second, ...late] = except(nodes, queueNode);
    await release([queueNode, first!, second!].map((node) => theirs[nodes.indexOf(node)]!));
    await queueNode.handOff();
    await settled();
    expect(outcome.value?.isHeld).toBe(true);
    for (const node of late) expect(await node.holder(KEY)).toBe('somebody');
    for (const node of late) expect(node.calls.filter((verb) => verb === 'acquire')).toHaveLength(2); // prettier-ignore
  });

  it('gives back what it has, and stands in line again, when others stay first', async () => {
    const { nodes, theirs, outcome, queueNode, clock } = await waiting();
    await release([theirs[nodes.indexOf(queueNode)]!]);
    await queueNode.handOff();
    for (let round = 0; round < 4; round++) await clock.advance(16);
    await settled();
    expect(await queueNode.holder(KEY)).toBeUndefined();
    await clock.advance(50);
    expect(queueNode.line).toHaveLength(1);
    await release(theirs);
    await queueNode.handOff();
    await settled();
    expect(outcome.value?.isHeld).toBe(true);
  });

  it('pauses longer and longer before it stands in line again', async () => {
    const { nodes, theirs, queueNode, clock } = await waiting();
    jest.spyOn(Math, 'random').mockReturnValue(0.99);
    const pauses: number[] = [];
    await release([theirs[nodes.indexOf(queueNode)]!]);
    for (let claim = 0; claim < 6; claim++) {
      await queueNode.handOff();
      for (let round = 0; round < 4; round++) await clock.advance(4 * round);
      const from = clock.now();
      while (queueNode.line.length === 0) await clock.advance(5);
      pauses.push(clock.now() - from);
    }
    jest.restoreAllMocks();
    expect(pauses).toEqual([50, 100, 150, 200, 200, 200]);
  });

  it('does not take nodes for slow that tell it quickly who else is there', async () => {
    const { nodes, theirs, queueNode, clock, locks } = await waiting();
    const suspended = jest.fn();
    locks.events.on('node', suspended);
    await release([theirs[nodes.indexOf(queueNode)]!]);
    for (let claim = 0; claim < 5; claim++) {
      await queueNode.handOff();
      while (queueNode.line.length === 0) await clock.advance(5);
    }
    expect(suspended).not.toHaveBeenCalled();
  });

  it('asks no more once its caller has given up', async () => {
    const canceller = new AbortController();
    const { nodes, theirs, outcome, queueNode, clock } = await waiting({
      signal: canceller.signal,
    });
    await release([theirs[nodes.indexOf(queueNode)]!]);
    await queueNode.handOff();
    await settled();
    canceller.abort();
    await settled();
    expect(outcome.error).toBe(canceller.signal.reason);
    const asked = nodes.map(({ calls }) => calls.length);
    await release(theirs);
    await clock.advance(100);
    expect(nodes.map(({ calls }) => calls.length)).toEqual(asked);
    for (const node of nodes) expect(await node.holder(KEY)).toBeUndefined();
  });

  it('gives back what is granted after its caller has given up', async () => {
    const canceller = new AbortController();
    const { nodes, theirs, queueNode, outcome } = await waiting({ signal: canceller.signal });
    await release(theirs);
    for (const node of except(nodes, queueNode)) node.stop();
    await queueNode.handOff();
    await settled();
    canceller.abort();
    await settled();
    expect(outcome.status).toBe('rejected');
    for (const node of nodes) node.pass();
    await settled();
    for (const node of nodes) expect(await node.holder(KEY)).toBeUndefined();
  });

  it('tries again when too few nodes answer, and hears of it when that goes on', async () => {
    const { nodes, theirs, queueNode, outcome, clock } = await waiting();
    await release(theirs);
    const down = except(nodes, queueNode).slice(0, 3);
    for (const node of down) node.fail(new Error('down'));
    await queueNode.handOff();
    await settled();
    expect(outcome.status).toBe('pending');
    expect(await queueNode.holder(KEY)).toBeUndefined();
    const from = clock.now();
    while (outcome.status === 'pending') {
      await clock.advance(10);
      if (queueNode.line.length > 0) await queueNode.handOff();
      await settled();
    }
    expect(outcome.error).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(clock.now() - from).toBeGreaterThanOrEqual(LONGEST_FAILURE);
    expect((outcome.error as LockStoreError).nodes.map(({ said }) => said)).toContain('error down'); // prettier-ignore
  });

  it('has the lock when the nodes answer again soon', async () => {
    const { nodes, theirs, queueNode, outcome, clock } = await waiting();
    await release(theirs);
    for (const node of except(nodes, queueNode)) node.fail(new Error('down'));
    await queueNode.handOff();
    await settled();
    for (const node of nodes) node.fail(undefined);
    while (queueNode.line.length === 0) await clock.advance(5);
    await queueNode.handOff();
    await settled();
    expect(outcome.value?.isHeld).toBe(true);
  });
});
