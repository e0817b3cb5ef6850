import { settled, stubQuorum } from '../support/stub-quorum';

describe('A node that hangs', () => {
  it.each([
    [3, 1],
    [5, 1],
    [5, 2],
  ])('of %i nodes, %i of them, is not waited for: no time passes', async (count, hung) => {
    const { locks, nodes, clock } = stubQuorum(count);
    for (const node of nodes.slice(0, hung)) node.stop();
    const lock = await locks.acquire('a'); // the clock stands still
    await lock.extend(30_000);
    await settled();
    expect(nodes[0]!.open).toBeGreaterThan(0);
    expect(await lock.release()).toBe(true);
    expect(clock.now()).toBe(50_000);
    for (const node of nodes) node.pass();
    await settled();
    for (const node of nodes) expect(await node.holder('a')).toBeUndefined();
  });

  it('is not waited for to learn that a key is held', async () => {
    const { locks, nodes, clock } = stubQuorum(5);
    nodes[0]!.stop();
    nodes[1]!.stop();
    for (const node of nodes.slice(2)) await node.occupy('a');
    expect(await locks.tryAcquire('a')).toBeUndefined();
    expect(clock.now()).toBe(50_000);
    expect(nodes[0]!.open).toBe(1);
  });
});
