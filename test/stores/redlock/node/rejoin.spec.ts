import type { Lock } from 'nest-holdfast/core';
import { rejectionOf } from '../../../core/support/outcome';
import { settled, stubQuorum } from '../support/stub-quorum';
import type { StubQuorum } from '../support/stub-quorum';

const TTL = 10_000;
const OLD = 60_000;

async function held(
  options: Parameters<typeof stubQuorum>[1] = {},
): Promise<StubQuorum & { lock: Lock }> {
  const own = stubQuorum(3, { quarantine: false, upFor: [OLD, OLD, OLD], ...options });
  const lock = await own.locks.acquire('a', { ttl: TTL, autoExtend: false });
  return Object.assign(own, { lock });
}

describe('A node that has lost the key', () => {
  it('gets it again with the next extension', async () => {
    const { nodes, lock } = await held();
    nodes[2]!.forget();
    expect(await nodes[2]!.holder('a')).toBeUndefined();
    await lock.extend(TTL);
    await settled();
    expect(await nodes[2]!.holder('a')).toBe(await nodes[0]!.holder('a'));
    await lock.release();
    expect(await nodes[2]!.holder('a')).toBeUndefined();
  });

  it('does not count for that extension, and counts for the one after it', async () => {
    const { nodes, lock } = await held();
    nodes[2]!.forget();
    nodes[1]!.fail(new Error('down'));
    expect(await rejectionOf(lock.extend(TTL))).toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(await nodes[2]!.holder('a')).toBeUndefined();
    nodes[1]!.fail(undefined);
    await lock.extend(TTL);
    await settled();
    nodes[1]!.fail(new Error('down'));
    await lock.extend(TTL);
    expect(lock.isHeld).toBe(true);
  });

  it('gets it for no longer than maxHold allows', async () => {
    const own = stubQuorum(3, { quarantine: false, upFor: [OLD, OLD, OLD] });
    await own.locks.acquire('a', { ttl: TTL, maxHold: 12_000 });
    own.nodes[2]!.forget();
    await own.clock.advance(TTL / 3 + 1);
    await settled();
    expect(await own.nodes[2]!.holder('a')).toBeDefined();
    const { remaining } = (await own.nodes[2]!.inspect('a'))!;
    expect(remaining).toBeLessThanOrEqual(12_000 - TTL / 3);
    await own.clock.advance(12_000);
    expect(await own.nodes[2]!.holder('a')).toBeUndefined();
  });

  it('does not get it while another holder has it there, and does when that one is gone', async () => {
    const { nodes, lock } = await held();
    nodes[2]!.forget();
    const theirs = await nodes[2]!.occupy('a');
    await lock.extend(TTL);
    await settled();
    expect(await nodes[2]!.holder('a')).toBe('somebody');
    await theirs.release();
    await lock.extend(TTL);
    await settled();
    expect(await nodes[2]!.holder('a')).toBe(await nodes[0]!.holder('a'));
  });

  it('does not get it while it has no vote', async () => {
    const { nodes, links, lock, clock } = await held({ quarantine: true, largestTtl: TTL });
    nodes[2]!.forget();
    links[2]!.restart();
    await settled();
    await lock.extend(TTL);
    await settled();
    expect(await nodes[2]!.holder('a')).toBeUndefined();
    await clock.advance(TTL / 2);
    await lock.extend(TTL);
    await clock.advance(TTL / 2);
    await lock.extend(TTL);
    await settled();
    expect(await nodes[2]!.holder('a')).toBe(await nodes[0]!.holder('a'));
  });

  it('gives it back when it answers after the release', async () => {
    const { nodes, lock } = await held();
    nodes[2]!.forget();
    await lock.extend(TTL); // gets it again
    await settled();
    nodes[2]!.forget();
    await lock.extend(TTL); // notices that it has lost it
    nodes[2]!.holdReplies();
    await lock.extend(TTL);
    await lock.release();
    nodes[2]!.pass();
    await settled();
    expect(await nodes[2]!.holder('a')).toBeUndefined();
  });

  it('with a majority of the others loses the lock', async () => {
    const { nodes, lock } = await held();
    nodes[1]!.forget();
    nodes[2]!.forget();
    expect(await rejectionOf(lock.extend(TTL))).toMatchObject({ code: 'LOCK_LOST' });
    expect(lock.signal.reason).toMatchObject({ reason: 'gone' });
  });
});

describe('A node that refused the key at first', () => {
  const OFFERS = 6_000; // longer than such a node is asked again

  /** The third node has given the key to another holder, until the returned lease is released. */
  const busyNode = async () => {
    const own = stubQuorum(3, { quarantine: false, upFor: [OLD, OLD, OLD] });
    return { ...own, theirs: await own.nodes[2]!.occupy('a') };
  };
  const holders = ({ nodes }: Pick<StubQuorum, 'nodes'>) =>
    Promise.all(nodes.map((node) => node.holder('a')));

  it('gets it once it is free, for no longer than the others have it', async () => {
    const own = await busyNode();
    await own.locks.acquire('a', { ttl: TTL, autoExtend: false });
    await own.clock.advance(500);
    await own.theirs.release();
    await own.clock.advance(OFFERS);
    expect(await own.nodes[2]!.holder('a')).toBeDefined();
    const [first, , third] = await Promise.all(own.nodes.map((node) => node.inspect('a')));
    expect(third!.remaining).toBeLessThanOrEqual(first!.remaining!);
  });

  it.each([
    ['its ttl has passed', { ttl: 1_000, autoExtend: false }],
    ['its maxHold has passed', { ttl: TTL, maxHold: 1_000 }],
  ])('is not taken for a free key after %s', async (_, options) => {
    const own = await busyNode();
    const lock = await own.locks.acquire('a', options);
    await own.clock.advance(1_100);
    expect(lock.state).toBe('lost');
    await own.theirs.release();
    const before = own.nodes[2]!.calls.length;
    await own.clock.advance(OFFERS);
    expect(await holders(own)).toEqual([undefined, undefined, undefined]);
    expect(own.nodes[2]!.calls.slice(before)).toEqual([]);
  });

  it('is not taken without a holder after its minHold has passed', async () => {
    const own = await busyNode();
    const lock = await own.locks.acquire('a', { ttl: TTL, minHold: 300 });
    expect(await lock.release()).toBe(true);
    await own.clock.advance(301);
    await own.theirs.release();
    const before = own.nodes[2]!.calls.length;
    await own.clock.advance(OFFERS);
    expect(await holders(own)).toEqual([undefined, undefined, undefined]);
    expect(own.nodes[2]!.calls.slice(before)).toEqual([]);
  });
});
