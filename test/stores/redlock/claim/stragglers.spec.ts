import { settled, stubQuorum } from '../support/stub-quorum';

const LARGEST = 10_000;
const OLD = 60_000;
const TTL = 10_000;
/** Milliseconds before such a node is asked again. */
const PAUSES = [10, 30, 90, 270, 810, 2_430];
/** Longer than such a node is asked. */
const OFFERS = 6_000;

describe('A node that has not granted the key of a majority', () => {
  /** Pauses are then those of the code, and not up to half as much more or less. */
  beforeEach(() => void jest.spyOn(Math, 'random').mockReturnValue(0.5));
  afterEach(() => jest.restoreAllMocks());

  const hold = { ttl: TTL, autoExtend: false };

  it('because it had no vote, is asked once it has one', async () => {
    const upFor = [OLD, OLD, LARGEST - 20];
    const { locks, nodes, clock } = stubQuorum(3, { upFor, largestTtl: LARGEST });
    await locks.acquire('a', hold);
    expect(nodes[2]!.calls).toEqual([]);
    await clock.advance(11); // asked after 10 ms, if it were fit
    expect(nodes[2]!.calls).toEqual([]);
    await clock.advance(30);
    expect(nodes[2]!.calls).toEqual(['acquire']);
    expect(await nodes[2]!.holder('a')).toBe(await nodes[0]!.holder('a'));
    const schedule = jest.spyOn(clock, 'schedule');
    await clock.advance(OFFERS);
    expect(nodes[2]!.calls).toEqual(['acquire']);
    const pauses = schedule.mock.calls.flatMap(([ms]) => (PAUSES.includes(ms) ? ms : []));
    expect(pauses).toEqual([]);
  });

  it.each([
    [1, 3],
    [2, 5],
  ])(
    'because its refusal came late, %i of %i, is asked again, once at a time',
    async (few, all) => {
      const { locks, nodes, clock } = stubQuorum(all);
      const late = nodes.slice(all - few);
      const theirs = await Promise.all(late.map((node) => node.occupy('a')));
      for (const node of late) node.holdReplies();
      await locks.acquire('a', hold);
      for (const node of late) node.pass();
      await settled();
      for (const node of late) expect(node.calls).toEqual(['acquire']);
      await clock.advance(9);
      for (const node of late) expect(node.calls).toEqual(['acquire']);
      await clock.advance(1);
      for (const node of late) expect(node.calls).toEqual(['acquire', 'acquire']);
      await Promise.all(theirs.map((lease) => lease.release()));
      await clock.advance(30);
      for (const node of late) expect(await node.holder('a')).toBe(await nodes[0]!.holder('a'));
      await clock.advance(OFFERS);
      for (const node of late)
        expect(node.calls).toEqual(Array.from({ length: 3 }, () => 'acquire'));
    },
  );

  it('is asked after 10 ms, and after three times as long each time, for less than four seconds', async () => {
    const { locks, nodes, clock } = stubQuorum(3);
    await nodes[2]!.occupy('a');
    const lock = await locks.acquire('a', { ...hold, ttl: 10 * TTL });
    const asked = () => nodes[2]!.calls.length - 1;
    let at = 0;
    for (const [index, pause] of PAUSES.entries()) {
      await clock.advance(pause - 1);
      at += pause;
      expect(asked()).toBe(index);
      await clock.advance(1);
      expect(asked()).toBe(index + 1);
    }
    expect(at).toBeLessThan(4_000);
    await clock.advance(3 * 2_430);
    expect(asked()).toBe(6);
    expect(lock.state).not.toBe('released');
  });

  it.each([
    [0, 5],
    [1, 15],
  ])(
    'is asked at another moment each time, by a timer that keeps no process alive',
    async (chance, ms) => {
      jest.spyOn(Math, 'random').mockReturnValue(chance);
      const { locks, nodes, clock } = stubQuorum(3);
      await nodes[2]!.occupy('a');
      const schedule = jest.spyOn(clock, 'schedule');
      await locks.acquire('a', hold);
      expect(schedule.mock.calls).toContainEqual([ms, expect.any(Function), true]);
    },
  );

  it('is asked for what is left of the ttl', async () => {
    const { locks, nodes, clock } = stubQuorum(3);
    const theirs = await nodes[2]!.occupy('a');
    await locks.acquire('a', hold);
    await theirs.release();
    const asked = jest.spyOn(nodes[2]!, 'tryAcquire');
    const { fencingToken } = (await nodes[0]!.inspect('a'))!;
    await clock.advance(10);
    expect(asked.mock.calls).toEqual([[expect.objectContaining({ ttl: TTL - 10, fencingFloor: fencingToken })]]); // prettier-ignore
  });

  it.each([
    ['for the last millisecond of the ttl', 11, 1],
    ['no more when the ttl is over', 10, 0],
  ])('is asked %s', async (_, ttl, times) => {
    const { locks, nodes, clock } = stubQuorum(3);
    await nodes[2]!.occupy('a');
    await locks.acquire('a', { ttl, autoExtend: false });
    await clock.advance(10);
    expect(nodes[2]!.calls).toHaveLength(1 + times);
  });

  it('is asked again after a failure, which tells nothing', async () => {
    const { locks, nodes, clock } = stubQuorum(3);
    nodes[2]!.fail(new Error('down'));
    await locks.acquire('a', hold);
    await clock.advance(10);
    expect(nodes[2]!.calls).toHaveLength(2);
    nodes[2]!.fail(undefined);
    await clock.advance(30);
    expect(await nodes[2]!.holder('a')).toBe(await nodes[0]!.holder('a'));
  });
});
