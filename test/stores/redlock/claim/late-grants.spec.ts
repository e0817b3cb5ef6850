import type { LockStoreError } from 'nest-holdfast/core';
import { rejectionOf, watch } from '../../../core/support/outcome';
import { settled, stubQuorum } from '../support/stub-quorum';

const TIMEOUT = 50;
const TTL = 30_000;

describe('A grant that comes too late', () => {
  it('for an attempt that failed is given back', async () => {
    const { locks, nodes, clock } = stubQuorum(3, { nodeTimeout: TIMEOUT });
    nodes[0]!.fail(new Error('down'));
    nodes[1]!.holdReplies();
    const failed = rejectionOf<LockStoreError>(locks.acquire('a', { ttl: TTL }));
    await clock.advance(TIMEOUT);
    expect((await failed).nodes.map(({ said }) => said)).toEqual(['error down', 'timeout', 'granted']); // prettier-ignore
    expect(await nodes[1]!.holder('a')).toBeDefined();
    nodes[1]!.pass();
    await settled();
    expect(await Promise.all(nodes.map((node) => node.holder('a')))).toEqual([undefined, undefined, undefined]); // prettier-ignore
  });

  it('for an attempt on a key that others hold is given back', async () => {
    const { locks, nodes } = stubQuorum(5);
    for (const index of [0, 1, 2]) await nodes[index]!.occupy('a');
    nodes[3]!.stop();
    nodes[4]!.holdReplies();
    expect(await locks.tryAcquire('a')).toBeUndefined();
    nodes[3]!.pass();
    nodes[4]!.pass();
    await settled();
    expect(await nodes[3]!.holder('a')).toBeUndefined();
    expect(await nodes[4]!.holder('a')).toBeUndefined();
  });

  it('for a lock that is held is kept, extended and released with it', async () => {
    const { locks, nodes, clock } = stubQuorum(3, { nodeTimeout: TIMEOUT });
    nodes[2]!.holdReplies();
    const lock = await locks.acquire('a', { ttl: TTL, autoExtend: false });
    await clock.advance(TIMEOUT);
    nodes[2]!.pass();
    await settled();
    nodes[0]!.fail(new Error('down'));
    await lock.extend(TTL); // the late one counts now
    nodes[0]!.fail(undefined);
    expect(await lock.release()).toBe(true);
    expect(await nodes[2]!.holder('a')).toBeUndefined();
  });

  it('for a lock that has been released is given back', async () => {
    const { locks, nodes } = stubQuorum(3, { nodeTimeout: TIMEOUT });
    nodes[2]!.stop();
    const lock = await locks.acquire('a', { ttl: TTL });
    await lock.release();
    nodes[2]!.pass();
    await settled();
    expect(nodes[2]!.calls).toEqual(['acquire', 'release']);
    expect(await nodes[2]!.holder('a')).toBeUndefined();
  });

  it('does not free what a later attempt of the same caller has taken', async () => {
    const { locks, nodes, clock } = stubQuorum(3, { nodeTimeout: 1_000 });
    const [theirs] = await Promise.all(nodes.slice(0, 2).map((node) => node.occupy('a')));
    nodes[2]!.holdReplies();
    const options = { ttl: TTL, retryDelay: 100, retryJitter: 0, autoExtend: false };
    const waiting = watch(locks.acquire('a', options));
    await settled();
    await theirs!.release();
    await clock.advance(100); // the second attempt has node 0, and waits for node 2
    expect(nodes[2]!.open).toBe(2);
    nodes[2]!.pass(); // the first attempt gives its grant back
    await settled();
    await clock.advance(200);
    expect(waiting.value!.isHeld).toBe(true);
    const holders = await Promise.all(nodes.map((node) => node.holder('a')));
    expect(holders).toEqual([expect.stringMatching(/:\d+$/), 'somebody', holders[0]]);
  });
});
