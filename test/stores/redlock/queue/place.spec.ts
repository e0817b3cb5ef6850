import type { LockStoreError } from 'nest-holdfast/core';
import { rejectionOf, watch } from '../../../core/support/outcome';
import { KEY, TTL, except, line, release, waiting } from '../support/queue-quorum';
import { settled } from '../support/stub-quorum';

/** Milliseconds after which a waiter hears of failures. */
const LONGEST_FAILURE = 2_000;

describe('A caller who waits', () => {
  it('goes to another node when one does not let it stand there', async () => {
    const { nodes, queueNode, clock } = await waiting();
    queueNode.refuse(new Error('OOM command not allowed'));
    await clock.advance(50);
    expect(queueNode.line).toEqual([]);
    expect(nodes.filter((node) => node.line.length === 1)).toHaveLength(1);
  });

  it('hears what is wrong when no node lets it stand there', async () => {
    const { nodes, outcome, clock } = await waiting();
    while (outcome.status === 'pending') {
      for (const node of nodes) if (node.line.length > 0) node.refuse(new Error('OOM'));
      await clock.advance(10);
    }
    const said = (outcome.error as LockStoreError).nodes.map((node) => node.said);
    expect(new Set(said)).toEqual(new Set(['error OOM']));
  });

  it('goes to another node when the connection is lost', async () => {
    const { nodes, links, queueNode, clock } = await waiting();
    links[nodes.indexOf(queueNode)]!.disconnect();
    await clock.advance(50);
    expect(queueNode.line).toEqual([]);
    expect(nodes.filter((node) => node.line.length === 1)).toHaveLength(1);
  });

  it('hears of it when there has been no node to stand at for long', async () => {
    const { links, outcome, clock } = await waiting();
    for (const link of links) link.disconnect();
    await clock.advance(LONGEST_FAILURE - 100);
    expect(outcome.status).toBe('pending');
    while (outcome.status === 'pending') await clock.advance(10);
    expect(outcome.error).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    const { nodes } = outcome.error as LockStoreError;
    expect(new Set(nodes.map(({ said }) => said))).toEqual(new Set(['refused (not connected)']));
  });

  it('stands in line again when the connections were lost for a moment', async () => {
    const { nodes, links, clock } = await waiting();
    for (const link of links) link.disconnect();
    await clock.advance(500);
    for (const link of links) link.connect();
    await clock.advance(50);
    expect(nodes.filter((node) => node.line.length === 1)).toHaveLength(1);
  });
});

describe('A lock of a majority', () => {
  it('that is lost is given up at the other nodes, too', async () => {
    const { locks, nodes } = line({ autoExtend: false });
    const lock = await locks.acquire(KEY);
    await settled();
    for (const node of nodes.slice(0, 3)) node.forget();
    expect(await rejectionOf(lock.extend(TTL))).toMatchObject({ code: 'LOCK_LOST' });
    await settled();
    for (const node of nodes) expect(await node.holder(KEY)).toBeUndefined();
  });

  it('is handed off by the queue node while that is of use, and else released', async () => {
    const { locks, nodes, links } = line();
    const [first, second, third] = [1, 2, 3].map(() => watch(locks.acquire(KEY)));
    await settled();
    await first!.value!.release();
    await settled();
    const queueNode = nodes.find(({ passes }) => passes === 1)!;
    expect(second!.value!.fencingToken).toBe(first!.value!.fencingToken + 1n);
    links[nodes.indexOf(queueNode)]!.disconnect();
    await second!.value!.release();
    await settled();
    expect(queueNode.passes).toBe(1);
    expect(third!.status).toBe('pending');
    for (const node of except(nodes, queueNode)) expect(node.calls).toContain('release');
  });

  it('is soon held also where a caller that has lost the vote gives it back', async () => {
    const { locks, nodes, clock } = line();
    const theirs = await nodes[2]!.occupy(KEY);
    const lock = await locks.acquire(KEY);
    await clock.advance(15);
    expect(await nodes[2]!.holder(KEY)).toBe('somebody');
    await theirs.release();
    await clock.advance(45);
    expect(await nodes[2]!.holder(KEY)).toBe(await nodes[0]!.holder(KEY));
    expect(await lock.release()).toBe(true);
    for (const node of nodes) expect(await node.holder(KEY)).toBeUndefined();
  });

  it('is held seconds later where claims that come to nothing follow one upon the other', async () => {
    const { locks, nodes, clock } = line();
    const theirs = await nodes[2]!.occupy(KEY);
    const lock = await locks.acquire(KEY, { autoExtend: false });
    await clock.advance(1_800);
    await theirs.release();
    await clock.advance(4_000);
    expect(await nodes[2]!.holder(KEY)).toBe(await nodes[0]!.holder(KEY));
    expect(await lock.release()).toBe(true);
  });

  it('is asked for no more where others keep it, nor after its release', async () => {
    const { locks, nodes, clock } = line();
    const theirs = await nodes[2]!.occupy(KEY);
    const lock = await locks.acquire(KEY, { autoExtend: false });
    await clock.advance(6_000);
    expect(nodes[2]!.calls).toEqual(Array.from({ length: 7 }, () => 'acquire'));
    await lock.release();
    const other = await locks.acquire(KEY);
    await other.release();
    await theirs.release();
    await clock.advance(6_000);
    expect(nodes[2]!.calls).toHaveLength(8);
  });

  it('is not given to its caller before the queue node has answered, or is late', async () => {
    const { queueNode, nodes, theirs, outcome, clock } = await waiting();
    await release(theirs);
    await queueNode.handOff();
    queueNode.holdReplies(); // the claim has been made, and its confirmation is not answered
    await settled();
    expect(outcome.status).toBe('pending');
    await clock.advance(100);
    expect(outcome.value?.isHeld).toBe(true);
    queueNode.pass();
    expect(await outcome.value!.release()).toBe(true);
    await settled();
    for (const node of nodes) expect(await node.holder(KEY)).toBeUndefined();
  });
});
