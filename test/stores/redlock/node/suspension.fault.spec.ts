import type { LockStoreError } from 'nest-holdfast/core';
import { rejectionOf } from '../../../core/support/outcome';
import { stubQuorum } from '../support/stub-quorum';
import type { StubQuorum } from '../support/stub-quorum';

const TIMEOUT = 50;
const MISSES = 3;

function quorum(): StubQuorum {
  return stubQuorum(3, { nodeTimeout: TIMEOUT, upFor: [60_000, 60_000, 60_000] });
}

/** The first answer of all is waited for four times as long as any other. */
function noAnswers({ clock }: StubQuorum): Promise<void> {
  return clock.advance(4 * TIMEOUT);
}

async function use({ locks }: StubQuorum): Promise<void> {
  await locks.withLock('a', async () => {});
}

/** The last node hangs, and is not asked any more. */
async function suspended(): Promise<StubQuorum> {
  const own = quorum();
  await use(own);
  own.nodes[2]!.stop();
  for (let miss = 0; miss < MISSES; miss++) {
    await use(own);
    await own.clock.advance(TIMEOUT);
  }
  own.nodes[2]!.calls.length = 0;
  return own;
}

/** Uses the locks all the time; when the last node was asked, in ms from now. */
async function probes(own: StubQuorum, ms: number): Promise<number[]> {
  const { calls } = own.nodes[2]!;
  const startedAt = own.clock.now();
  const times: number[] = [];
  while (own.clock.now() - startedAt < ms) {
    const { length } = calls;
    await use(own);
    await use(own);
    if (calls.length > length) times.push(own.clock.now() - startedAt);
    expect(calls.length - length).toBeLessThanOrEqual(1);
    await own.clock.advance(10);
  }
  return times;
}

describe('A node that does not answer', () => {
  it('is not asked any more after it missed three votes that others settled', async () => {
    const own = quorum();
    await use(own);
    own.nodes[2]!.stop();
    const before = own.nodes[2]!.calls.length;
    for (let count = 0; count < 10; count++) {
      await use(own);
      if (count < MISSES) await own.clock.advance(TIMEOUT);
    }
    expect(own.nodes[2]!.calls.length - before).toBe(MISSES);
    expect(own.events).toEqual([
      {
        store: 'redlock',
        node: 'c',
        state: 'suspended',
        reason: 'it did not answer 3 times in a row',
      },
    ]);
  });

  it('is named in errors, with the time for which it is not asked', async () => {
    const own = await suspended();
    own.nodes[1]!.fail(new Error('ECONNRESET'));
    const { nodes, message } = await rejectionOf<LockStoreError>(own.locks.acquire('b'));
    expect(nodes.map(({ said }) => said)).toEqual([
      'granted',
      'error ECONNRESET',
      'suspended for 100 ms (it does not answer)',
    ]);
    expect(message).toContain('c suspended for 100 ms');
  });

  it('gets one call after a pause, which doubles up to two seconds, and nothing in between', async () => {
    const own = await suspended();
    const times = await probes(own, 8_000);
    const pauses = times.map((time, index) => time - (times[index - 1] ?? -TIMEOUT) - TIMEOUT);
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000]);
    expect(own.notices).toEqual(['c suspended']);
  });

  it('is asked as before once it answers such a call, and says so', async () => {
    const own = await suspended();
    await own.clock.advance(100);
    own.nodes[2]!.pass();
    await use(own);
    await own.clock.advance(0);
    expect(own.notices).toEqual(['c suspended', 'c recovered']);
    own.nodes[2]!.calls.length = 0;
    for (let count = 0; count < 10; count++) await use(own);
    expect(own.nodes[2]!.calls.filter((call) => call === 'acquire')).toHaveLength(10);
  });

  it('starts with the shortest pause when it hangs again', async () => {
    const own = await suspended();
    await probes(own, 2_000);
    own.nodes[2]!.pass();
    await own.clock.advance(2_000);
    await use(own);
    await own.clock.advance(0);
    expect(own.notices).toEqual(['c suspended', 'c recovered']);
    own.nodes[2]!.stop();
    for (let miss = 0; miss < MISSES; miss++) {
      await use(own);
      await own.clock.advance(TIMEOUT);
    }
    expect((await probes(own, 300))[0]).toBe(100);
  });

  it('is not suspended for a vote that no node answered: it may be this process that hangs', async () => {
    const own = quorum();
    for (const node of own.nodes) node.stop();
    for (let count = 0; count < 5; count++) {
      const failed = rejectionOf<LockStoreError>(own.locks.acquire('a'));
      await noAnswers(own);
      expect((await failed).nodes.map(({ said }) => said)).toEqual(['timeout', 'timeout', 'timeout']); // prettier-ignore
    }
    expect(own.notices).toEqual([]);
  });

  it('is suspended once it has said nothing for a second, whether others answer or not', async () => {
    const own = quorum();
    await use(own);
    own.links[2]!.hold();
    await own.clock.advance(1_000);
    await use(own);
    await own.clock.advance(1_000);
    expect(own.notices).toEqual(['c suspended']);
  });

  it('in time, but does so after it, is asked no more often than one that is silent', async () => {
    const own = quorum();
    await use(own);
    const node = own.nodes[2]!;
    let asked = 0;
    for (let count = 0; count < 200; count++) {
      node.holdReplies();
      const { length } = node.calls;
      await use(own);
      asked += node.calls.slice(length).filter((call) => call === 'acquire').length;
      await own.clock.advance(TIMEOUT);
      node.pass(); // too late
      await own.clock.advance(5);
    }
    expect(asked).toBeLessThan(20);
    expect(own.notices).toEqual(['c suspended']);
  });

  it('has at most a thousand calls open, also while no vote is settled', async () => {
    const own = quorum();
    for (const node of own.nodes) node.stop();
    for (let count = 0; count < 30; count++) {
      const calls = Array.from({ length: 100 }, (_, key) =>
        rejectionOf(own.locks.acquire(`${key}`)),
      );
      await noAnswers(own);
      await Promise.all(calls);
    }
    for (const node of own.nodes) expect(node.open).toBeLessThanOrEqual(1_000);
    for (const node of own.nodes) node.pass();
    await own.clock.advance(0);
    await use(own);
  });
});

describe('A lock that was granted before', () => {
  it('a node was suspended is released there, too', async () => {
    const own = quorum();
    const lock = await own.locks.acquire('held', { autoExtend: false });
    const node = own.nodes[2]!;
    node.stop();
    for (let miss = 0; miss < MISSES; miss++) {
      await use(own);
      await own.clock.advance(TIMEOUT);
    }
    expect(own.notices).toEqual(['c suspended']);
    expect(await lock.release()).toBe(true);
    node.pass();
    await own.clock.advance(0);
    expect(await node.holder('held')).toBeUndefined();
  });

  it('a connection was lost is released there once there is a new one', async () => {
    const own = quorum();
    const lock = await own.locks.acquire('held', { autoExtend: false });
    const node = own.nodes[2]!;
    own.links[2]!.disconnect();
    node.stop(); // as a client does that keeps commands for the next connection
    expect(await lock.release()).toBe(true);
    own.links[2]!.connect();
    node.pass();
    await own.clock.advance(0);
    expect(await node.holder('held')).toBeUndefined();
  });
});
