import { leftBehind } from '../../support/faults/left-behind.js';
import { RedlockNodes, RedlockProcess } from './support/nodes';

describe('The fencing counters of nodes', () => {
  let nodes: RedlockNodes;

  beforeAll(async () => void (nodes = await RedlockNodes.start(3)));
  afterAll(() => nodes[Symbol.asyncDispose]());

  it('expire, each of them', async () => {
    await using own = await RedlockProcess.start(nodes);
    const keys = Array.from({ length: 50 }, (_, index) => `order:${index}`);
    await Promise.all(keys.map((key) => own.locks.withLock(key, async () => {})));
    await nodes.nothingLeft();
    for (const server of nodes.servers) {
      expect(await leftBehind(server)).toEqual([]); // a counter without a ttl would be listed
      expect(await server.command('DBSIZE')).toBeGreaterThan(0);
    }
  });

  it.each([
    ['one node', 1],
    ['all nodes', 3],
  ])('may be gone from %s, and the next token is larger all the same', async (_, count) => {
    await using own = await RedlockProcess.start(nodes);
    let last = 0n;
    for (let round = 0; round < 5; round++) {
      const { fencingToken } = await own.locks.withLock('order:42', async (lock) => lock);
      expect(fencingToken).toBeGreaterThan(last);
      last = fencingToken;
      await nodes.nothingLeft();
      for (const server of nodes.servers.slice(0, count)) await server.command('FLUSHALL');
    }
  });
});
