import type { LockStoreError } from 'nest-holdfast/core';
import { rejectionOf, watch } from '../../../core/support/outcome';
import { settled, stubQuorum } from '../support/stub-quorum';

const TTL = 10_000;
/** Validity is the ttl less 1 % and 2 ms. */
const VALID = TTL - 102;

describe('A majority that answers after the validity', () => {
  it('is not a lock, and everything is given back', async () => {
    const { locks, nodes, clock } = stubQuorum(5, { nodeTimeout: 60_000 });
    for (const node of nodes) node.holdReplies();
    const failed = rejectionOf<LockStoreError>(locks.acquire('a', { ttl: TTL, storeTimeout: TTL, waitTimeout: 0 })); // prettier-ignore
    await clock.advance(VALID);
    expect(await nodes[0]!.holder('a')).toBeDefined();
    for (const node of nodes) node.pass();
    const error = await failed;
    expect(error).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(error.message).toContain(
      `its answer took ${VALID} ms, which uses up a ttl of ${TTL} ms`,
    );
    expect(error.nodes.filter(({ said }) => said === 'granted').length).toBeGreaterThanOrEqual(3);
    await settled();
    for (const node of nodes) {
      expect(node.calls).toEqual(['acquire', 'release']);
      expect(await node.holder('a')).toBeUndefined();
    }
  });

  it('a millisecond earlier is one', async () => {
    const { locks, nodes, clock } = stubQuorum(5, { nodeTimeout: 60_000 });
    for (const node of nodes) node.holdReplies();
    const acquired = watch(locks.acquire('a', { ttl: TTL, storeTimeout: TTL, autoExtend: false }));
    await clock.advance(VALID - 1);
    for (const node of nodes) node.pass();
    await settled();
    expect(acquired.value!.isHeld).toBe(true);
    await clock.advance(1);
    expect(acquired.value!.isHeld).toBe(false);
  });

  it('is not a lock either when only the one that decides is late', async () => {
    const { locks, nodes, clock } = stubQuorum(3, { nodeTimeout: 60_000 });
    nodes[0]!.holdReplies();
    nodes[1]!.fail(new Error('down'));
    const failed = rejectionOf(locks.acquire('a', { ttl: TTL, storeTimeout: TTL, waitTimeout: 0 }));
    await clock.advance(VALID);
    nodes[0]!.pass();
    expect((await failed).message).toContain('uses up a ttl');
    await settled();
    expect(await nodes[0]!.holder('a')).toBeUndefined();
    expect(await nodes[2]!.holder('a')).toBeUndefined();
  });
});
