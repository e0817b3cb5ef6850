import { setTimeout as pause } from 'node:timers/promises';
import { RedlockNodes, RedlockProcess } from '../support/nodes.js';
import { contend, expectExclusion } from '../../../support/faults/redlock-contention.js';

/** A machine that stands still for two seconds loses no lock. */
const TTL = 5_000;
const RHYTHM = 300;
const RESTARTS = 8;

describe('While nodes of five restart, empty, every 300 ms,', () => {
  let nodes: RedlockNodes;
  const processes: RedlockProcess[] = [];

  beforeEach(async () => {
    nodes = await RedlockNodes.start();
    await nodes.upFor(TTL / 1_000);
    const options = { quarantine: true, largestTtl: TTL, service: { ttl: TTL } };
    while (processes.length < 2) processes.push(await RedlockProcess.start(nodes, options));
    for (const { locks } of processes) await locks.withLock('warm-up', async () => {});
  });

  afterEach(async () => {
    for (const each of processes.splice(0)) await each[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  it.each([[[2]], [[1, 4]]])(
    'as %j do, no two have a key at once, and nothing fails',
    async (bad) => {
      let restarts = 0;
      const flapping = (async () => {
        for (; restarts < RESTARTS; restarts++) {
          await Promise.all(bad.map((index) => nodes.servers[index]!.restart()));
          await pause(RHYTHM); // this is the fault
        }
      })();
      const seen = await contend(processes, 'order:42', () => restarts === RESTARTS);
      await flapping;
      expect(seen.count).toBeGreaterThan(RESTARTS);
      expectExclusion(seen);
      for (const each of processes) for (const index of bad) expect(each.told(index)).toContain('quarantined'); // prettier-ignore
      await nodes.nothingLeft();
    },
  );

  it('as two do, a lock that is held survives, and they have it again in the end', async () => {
    const [own] = processes as [RedlockProcess];
    const lost = jest.fn();
    own.locks.events.on('lost', lost);
    const lock = await own.locks.acquire('order:42');
    for (let restarts = 0; restarts < RESTARTS; restarts++) {
      await Promise.all([1, 4].map((index) => nodes.servers[index]!.restart()));
      await pause(RHYTHM);
    }
    expect(lock.isHeld).toBe(true);
    await own.isTold(1, 'quarantined');
    await own.isTold(4, 'quarantined');
    const all = { length: 5 };
    while ((await nodes.having('order:42')).length < all.length) {
      await own.locks.withLock('other', async () => {}); // it is in use, so it looks after its nodes
      await pause(RHYTHM);
    }
    expect(own.told(1).at(-1)).toBe('recovered');
    expect(await lock.release()).toBe(true);
    expect(lost).not.toHaveBeenCalled();
    await nodes.nothingLeft();
  });
});
