import { settled, stubQuorum } from '../support/stub-quorum';
import type { StubQuorum } from '../support/stub-quorum';

const LARGEST = 10_000;
const LOOK = 1_000;
const OLD = 60_000;

/** Three nodes that are known, and in use for as long as the test goes on. */
async function inUse(): Promise<StubQuorum> {
  const own = stubQuorum(3, { upFor: [OLD, OLD, OLD], largestTtl: LARGEST });
  await use(own);
  await own.clock.advance(LOOK);
  expect(own.links[0]!.readings).toBeGreaterThan(1);
  return own;
}

async function use(own: StubQuorum): Promise<void> {
  await own.locks.withLock('a', { ttl: 5_000 }, async () => {});
}

/** Lets time pass while locks are taken. */
async function pass(own: StubQuorum, ms: number): Promise<void> {
  for (let rest = ms; rest > 0; rest -= 500) {
    await use(own);
    await own.clock.advance(Math.min(rest, 500));
  }
  await settled();
}

describe('A node whose clock', () => {
  it.each([
    ['forward', 60_000],
    ['forward by a little more than nodes may differ', 150],
    ['back', -60_000],
    ['back by a little more than nodes may differ', -150],
  ])('jumps %s loses its vote for the largest ttl', async (_, ms) => {
    const own = await inUse();
    own.links[1]!.offset += ms;
    await pass(own, LOOK);
    expect(own.notices).toEqual(['b quarantined']);
    expect(own.events[0]!.reason).toBe('its clock has jumped');
    own.nodes[1]!.calls.length = 0;
    await pass(own, LARGEST - LOOK);
    expect(own.nodes[1]!.calls).toEqual([]);
    await pass(own, 2 * LOOK);
    expect(own.notices).toEqual(['b quarantined', 'b recovered']);
  });

  it('runs a little faster than ours keeps its vote', async () => {
    const own = await inUse();
    for (let second = 0; second < 20; second++) {
      own.links[1]!.offset += 5;
      await pass(own, LOOK);
    }
    expect(own.notices).toEqual([]);
  });

  it.each([150, 60_000])(
    'seems to jump when ours was set forward by %d ms, and keeps its vote',
    async (ms) => {
      const own = await inUse();
      own.clock.suspend(ms);
      for (const link of own.links) link.offset -= ms;
      await pass(own, 3 * LOOK);
      expect(own.notices).toEqual([]);
    },
  );

  it.each([150, 60_000])(
    'goes on while we are suspended for %d ms, and keeps its vote',
    async (ms) => {
      const own = await inUse();
      own.clock.suspend(ms);
      await pass(own, 3 * LOOK);
      expect(own.notices).toEqual([]);
    },
  );

  it('jumps, and ours is set forward: the largest ttl has to pass all the same', async () => {
    const own = await inUse();
    own.links[1]!.offset += 60_000;
    await pass(own, LOOK);
    expect(own.notices).toEqual(['b quarantined']);
    own.clock.suspend(LARGEST);
    for (const link of own.links) link.offset -= LARGEST;
    await pass(own, LARGEST - 2 * LOOK);
    expect(own.notices).toEqual(['b quarantined']);
    await pass(own, 3 * LOOK);
    expect(own.notices).toEqual(['b quarantined', 'b recovered']);
  });

  it('is read while the node is slow keeps its vote, then and later', async () => {
    const own = await inUse();
    own.links[1]!.hold();
    await pass(own, LOOK);
    await pass(own, 500);
    own.links[1]!.pass(); // the answer that was asked for long ago tells the time of now
    await settled();
    await pass(own, 3 * LOOK);
    expect(own.notices).not.toContain('b quarantined');
  });

  it('jumps while a reading is under way does not hide it behind that', async () => {
    const own = await inUse();
    own.links[1]!.hold();
    await pass(own, LOOK);
    own.links[1]!.offset += 800;
    await pass(own, 900);
    own.links[1]!.pass();
    await settled();
    await pass(own, 2 * LOOK);
    expect(own.notices).toContain('b quarantined');
  });

  it('jumps is not noticed any more once the locks are unused', async () => {
    const own = await inUse();
    await own.clock.advance(5 * LOOK);
    const { readings } = own.links[0]!;
    await own.clock.advance(60 * LOOK);
    expect(own.links[0]!.readings).toBe(readings);
    expect(own.clock.pendingTimers).toBe(0);
  });
});
