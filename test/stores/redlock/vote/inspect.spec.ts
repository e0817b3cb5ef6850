import { LockService } from 'nest-holdfast/core';
import { rejectionOf } from '../../../core/support/outcome';
import { StubProcess, stubQuorum } from '../support/stub-quorum';

const OLD = 60_000;

describe('inspect on a quorum', () => {
  it('names the holder of a majority, with the time for which a majority keeps the key', async () => {
    const { locks, clock } = stubQuorum(5);
    const lock = await locks.acquire('a', { ttl: 10_000, autoExtend: false });
    await clock.advance(4_000);
    expect(await locks.inspect('a')).toEqual({
      key: 'a',
      holder: expect.stringMatching(/:\d+:\d+$/),
      remaining: 6_000,
      heldFor: 4_000,
      waiters: [],
      waiterCount: 0,
      fencingToken: lock.fencingToken,
    });
  });

  it('says nothing of a key that is free', async () => {
    expect(await stubQuorum(5).locks.inspect('a')).toBeUndefined();
  });

  it('says nothing of a key that a caller has at too few nodes', async () => {
    const { locks, nodes } = stubQuorum(5);
    await Promise.all([nodes[0]!.occupy('a'), nodes[1]!.occupy('a')]);
    expect(await locks.inspect('a')).toBeUndefined();
  });

  it('counts the time of the majority that keeps it longest', async () => {
    const { locks, nodes } = stubQuorum(3);
    await nodes[0]!.occupy('a', 1_000);
    await nodes[1]!.occupy('a', 2_000);
    await nodes[2]!.occupy('a', 3_000);
    expect(await locks.inspect('a')).toMatchObject({ holder: 'somebody', remaining: 2_000 });
  });

  it('does without two nodes of five, one of which hangs', async () => {
    const { locks, nodes, clock } = stubQuorum(5);
    await locks.acquire('a', { autoExtend: false });
    nodes[0]!.stop();
    nodes[1]!.fail(new Error('ECONNRESET'));
    const seen = locks.inspect('a');
    await clock.advance(500);
    expect(await seen).toMatchObject({ key: 'a' });
  });

  it('rejects when too few nodes answer', async () => {
    const { locks, nodes, links, clock } = stubQuorum(3, { upFor: [OLD, OLD, OLD] });
    await locks.withLock('a', async () => {});
    nodes[0]!.stop();
    links[1]!.disconnect();
    const failed = rejectionOf(locks.inspect('a'));
    await clock.advance(500);
    expect((await failed).cause).toMatchObject({
      report: {
        ended: '1 of 3 nodes answered, 2 were needed',
        nodes: [
          { node: 'a', said: 'timeout' },
          { node: 'b', said: 'refused (not connected)' },
          { node: 'c', said: 'answered' },
        ],
      },
    });
  });
});

describe('close of a quorum', () => {
  it('leaves a node open that another service uses', async () => {
    const { locks, nodes } = stubQuorum(3);
    const other = new LockService(nodes[0]!);
    await locks.close();
    expect(nodes.map(({ closes }) => closes)).toEqual([0, 1, 1]);
    await other.close();
    expect(nodes.map(({ closes }) => closes)).toEqual([1, 1, 1]);
  });

  it('closes the store of every node, once, and leaves no timer', async () => {
    const { locks, nodes, clock } = stubQuorum(3, { upFor: [OLD, OLD, OLD] });
    await locks.acquire('a');
    const closed = locks.close();
    await clock.advance(0);
    await closed;
    expect(nodes.map(({ closes }) => closes)).toEqual([1, 1, 1]);
    await clock.advance(50); // that of the last vote runs out
    expect(clock.pendingTimers).toBe(0);
    expect(await nodes[0]!.holder('a')).toBeUndefined();
  });

  it('ends the wait of the first callers for the nodes', async () => {
    const { locks, store, links } = stubQuorum(3, { upFor: [OLD, OLD, OLD] });
    for (const link of links) link.disconnect();
    const first = rejectionOf(locks.acquire('a'));
    await store.close();
    expect((await first).message).toContain('refused (not connected)');
  });

  it('does not concern the other stores on the same nodes', async () => {
    const one = stubQuorum(3);
    const other = new StubProcess(one.nodes, one.clock);
    await one.locks.close();
    await other.locks.withLock('a', async () => {});
  });
});
