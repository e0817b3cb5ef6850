import type { LockStoreError } from 'nest-holdfast/core';
import { rejectionOf } from '../../../core/support/outcome';
import { settled, stubQuorum } from '../support/stub-quorum';
import type { StubQuorum } from '../support/stub-quorum';

const LARGEST = 10_000;
const OLD = 60_000;
const ONCE = { waitTimeout: 0, ttl: 1_000 };

/** The answer of each node to an attempt, of which only a missing vote is told apart. */
async function barred({ locks, nodes }: StubQuorum): Promise<string[]> {
  for (const node of nodes) node.fail(new Error('asked'));
  const error = await rejectionOf<LockStoreError>(locks.acquire('probe', ONCE));
  for (const node of nodes) node.fail(undefined);
  return error.nodes.flatMap(({ node, said }) => (said.startsWith('quarantined') ? node : []));
}

function quorum(upFor: readonly number[], options: Parameters<typeof stubQuorum>[1] = {}) {
  return stubQuorum(upFor.length, { upFor, largestTtl: LARGEST, ...options });
}

describe('A node that has just started', () => {
  it('has no vote, and the error says until when', async () => {
    const own = quorum([OLD, 0, 0]);
    const { nodes, ...error } = await rejectionOf<LockStoreError>(own.locks.acquire('a', ONCE));
    expect(error.code).toBe('LOCK_STORE_FAILED');
    expect(nodes[0]).toEqual({ node: 'a', said: 'granted' });
    expect(nodes[1]!.said).toMatch(/^quarantined until \d{4}-.*Z \(in 10000 ms\)$/);
    expect(own.nodes[1]!.calls).toEqual([]);
  });

  it('gets it when it has been up for the largest ttl', async () => {
    const own = quorum([OLD, OLD, 4_000]);
    expect(await barred(own)).toEqual(['c']);
    await own.clock.advance(5_999);
    expect(await barred(own)).toEqual(['c']);
    await own.clock.advance(1);
    expect(await barred(own)).toEqual([]);
    expect(own.notices).toEqual(['c quarantined', 'c recovered']);
    expect(own.events[0]!.reason).toBe('its server has just started');
  });

  it('counts from a larger ttl once this process uses one', async () => {
    const own = quorum([OLD, OLD, 9_000]);
    await own.locks.withLock('a', { ttl: 20_000 }, async () => {});
    await own.clock.advance(10_999);
    expect(await barred(own)).toEqual(['c']);
    await own.clock.advance(1);
    expect(await barred(own)).toEqual([]);
  });

  it('counts from the ttl that a lock was extended to, too', async () => {
    const own = quorum([OLD, OLD, OLD]);
    const lock = await own.locks.acquire('a', { ttl: LARGEST, autoExtend: false });
    await lock.extend(50_000);
    own.links[2]!.restart();
    await settled();
    await own.clock.advance(LARGEST + 1_000);
    expect(await barred(own)).toEqual(['c']);
    await own.clock.advance(40_000);
    expect(await barred(own)).toEqual([]);
  });

  it('has no vote either when it is another server, which has been up for long', async () => {
    const own = quorum([OLD, OLD, OLD]);
    expect(await barred(own)).toEqual([]);
    own.links[2]!.disconnect();
    own.links[2]!.start(OLD);
    own.links[2]!.connect();
    await settled();
    expect(await barred(own)).toEqual(['c']);
    await own.clock.advance(LARGEST);
    expect(await barred(own)).toEqual([]);
  });

  it('keeps the vote that it already has when this process uses a larger ttl', async () => {
    const own = quorum([OLD, OLD, 15_000]);
    expect(await barred(own)).toEqual([]);
    await own.locks.withLock('a', { ttl: 30_000 }, async () => {});
    expect(await barred(own)).toEqual([]);
  });

  it('has its vote at once where quarantine is off', async () => {
    const own = quorum([OLD, 0, 0], { quarantine: false });
    await own.locks.withLock('a', ONCE, async () => {});
    own.links[0]!.restart();
    await settled();
    expect(await barred(own)).toEqual([]);
    expect(own.notices).toEqual([]);
  });
});

describe('Nodes that have all just started', () => {
  it('have their votes at once', async () => {
    const own = quorum([0, 1_500, 700]);
    expect(await barred(own)).toEqual([]);
    expect(own.notices).toEqual([]);
  });

  it('do not where quarantine is strict', async () => {
    const own = quorum([0, 1_500, 700], { quarantine: true });
    expect(await barred(own)).toEqual(['a', 'b', 'c']);
  });

  it('do not when they started further apart', async () => {
    const own = quorum([0, 2_100, 700]);
    expect(await barred(own)).toEqual(['a', 'b', 'c']);
  });

  it('do not while one of them is unknown', async () => {
    const own = quorum([0, 0, 0]);
    own.links[2]!.disconnect();
    const first = barred(own);
    await own.clock.advance(1_000); // so long the first callers wait
    expect(await first).toEqual(['a', 'b']);
  });

  it('do once the last one is known', async () => {
    const own = quorum([0, 0, 0]);
    own.links[2]!.disconnect();
    const first = own.locks.tryAcquire('a');
    await settled();
    expect(own.nodes[0]!.calls).toEqual([]);
    own.links[2]!.connect();
    expect(await first).toBeDefined();
  });
});

describe('A node that restarts', () => {
  it('has no vote, although it does so within two seconds of the first start of all', async () => {
    const own = quorum([100, 100, 100]);
    expect(await barred(own)).toEqual([]);
    await own.clock.advance(500);
    own.links[1]!.restart();
    await settled();
    expect(await barred(own)).toEqual(['b']);
    await own.clock.advance(LARGEST);
    expect(await barred(own)).toEqual([]);
    expect(own.notices).toEqual(['b quarantined', 'b recovered']);
    expect(own.events[0]).toEqual({
      store: 'redlock',
      node: 'b',
      state: 'quarantined',
      reason: 'its server has restarted',
    });
  });

  it('has no vote although all others do so, too', async () => {
    const own = quorum([OLD, OLD, OLD]);
    await own.locks.withLock('a', ONCE, async () => {});
    for (const link of own.links) link.restart();
    await settled();
    expect(await barred(own)).toEqual(['a', 'b', 'c']);
  });

  it('has no vote before it is known whether it has', async () => {
    const own = quorum([OLD, OLD, OLD]);
    await own.locks.withLock('a', ONCE, async () => {});
    own.links[1]!.hold();
    own.links[1]!.restart();
    const error = await rejectionOf<LockStoreError>(failing(own));
    expect(error.nodes[1]!.said).toBe('quarantined until it is known when it started');
    own.links[1]!.pass();
    await settled();
    expect(await barred(own)).toEqual(['b']);
  });

  it('does not lose its vote when only the connection was lost', async () => {
    const own = quorum([OLD, OLD, OLD]);
    await own.locks.withLock('a', ONCE, async () => {});
    own.links[1]!.disconnect();
    own.links[1]!.connect();
    await settled();
    expect(await barred(own)).toEqual([]);
    expect(own.notices).toEqual([]);
  });

  it('does not get its vote sooner by losing its connection as well', async () => {
    const own = quorum([OLD, OLD, OLD]);
    await own.locks.withLock('a', ONCE, async () => {});
    own.links[1]!.restart();
    await own.clock.advance(LARGEST - 1);
    own.links[1]!.disconnect();
    own.links[1]!.connect();
    await settled();
    expect(await barred(own)).toEqual(['b']);
    await own.clock.advance(1);
    expect(await barred(own)).toEqual([]);
  });

  it('is read at once, although a reading from before the restart was never answered', async () => {
    const own = quorum([OLD, OLD, OLD]);
    await own.locks.withLock('a', ONCE, async () => {});
    own.links[1]!.hold();
    own.links[1]!.disconnect();
    own.links[1]!.connect();
    own.links[1]!.disconnect();
    own.links[1]!.connect();
    own.links[1]!.pass();
    await settled();
    expect(await barred(own)).toEqual([]);
  });

  it('and refuses to say since when it has been up has no vote, and the error says why', async () => {
    const own = quorum([OLD, OLD, OLD]);
    own.links[2]!.refusal = new Error('NOPERM');
    await own.locks.withLock('a', ONCE, async () => {});
    const error = await rejectionOf<LockStoreError>(failing(own));
    expect(error.nodes[2]!.said).toBe('quarantined until it is known when it started (NOPERM)');
  });
});

/** An attempt that no node grants. */
function failing({ locks, nodes }: StubQuorum): Promise<unknown> {
  for (const node of nodes) node.fail(new Error('asked'));
  return locks.acquire('probe', ONCE);
}
