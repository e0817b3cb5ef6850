import type { Lock } from 'nest-holdfast';
import { until } from '../../../support/until.js';
import type { RedisServer } from '../../../support/servers/redis-server.js';
import { RedlockInstance, Witness, queueNodeOf } from '../support/redlock-instance.js';
import type { InstanceOptions } from '../support/redlock-instance.js';
import { RedlockNodes } from '../support/nodes.js';

const KEY = 'order:42';
const TTL = 4_500;
/** A node that has lost its data has no vote for so long. A machine that stands still for two seconds loses no lock. */
const QUARANTINE = { quarantine: true, largestTtl: TTL, service: { ttl: TTL } } as const;

describe.each([
  ['with', 8],
  ['without', 0],
])('Those who wait, %s hand-off,', (_, localPassLimit) => {
  let nodes: RedlockNodes;
  let processes: RedlockInstance[] = [];
  let witness: Witness;

  beforeEach(async () => {
    nodes = await RedlockNodes.start();
    witness = new Witness();
  });

  afterEach(async () => {
    for (const each of processes.splice(0)) await each[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  /** One process holds the lock, three with eight callers each wait for it. */
  async function inLine(
    options: InstanceOptions = {},
  ): Promise<{ held: Lock; done: Promise<unknown>; queueNode: RedisServer }> {
    if (options.quarantine) await nodes.upFor(TTL / 1_000 + 1); // that of their start is over
    const starts = Array.from({ length: 4 }, () =>
      RedlockInstance.start(nodes, { ...options, localPassLimit }),
    );
    processes = await Promise.all(starts);
    const [holder, ...others] = processes as [RedlockInstance, ...RedlockInstance[]];
    const held = await holder.locks.acquire(KEY);
    const calls = others.flatMap(({ locks }) =>
      Array.from({ length: 8 }, () => locks.withLock(KEY, (lock) => witness.watch(lock))),
    );
    const done = Promise.all(calls);
    done.catch(() => undefined);
    return { held, done, queueNode: nodes.servers[await queueNodeOf(nodes, KEY, 3)]! };
  }

  function allBut(queueNode: RedisServer): RedisServer[] {
    return nodes.servers.filter((server) => server !== queueNode);
  }

  it('are served by another queue node when theirs dies', async () => {
    const { held, done, queueNode } = await inLine();
    await queueNode.kill();
    await queueNodeOf(nodes, KEY, 3);
    expect(witness.tokens).toEqual([]);
    await held.release();
    await done;
    witness.confirm(24);
    expect(witness.tokens[0]).toBeGreaterThan(held.fencingToken);
    await nodes.nothingLeft(allBut(queueNode));
  });

  it('are served when it dies right when it hands the lock over', async () => {
    const { held, done, queueNode } = await inLine();
    const released = held.release();
    await queueNode.kill();
    await released;
    await done;
    witness.confirm(24);
    await nodes.nothingLeft(allBut(queueNode));
  });

  it('are served by another queue node when theirs hangs', async () => {
    const { held, done, queueNode } = await inLine({ nodeTimeout: 1_000 });
    queueNode.pause();
    await held.release();
    await done;
    witness.confirm(24);
    queueNode.resume();
    await nodes.nothingLeft();
  });

  it('are served when it hangs for a moment', async () => {
    const { held, done, queueNode } = await inLine();
    queueNode.pause();
    const released = held.release();
    await new Promise((resolve) => setTimeout(resolve, 300));
    queueNode.resume();
    await released;
    await done;
    witness.confirm(24);
    await nodes.nothingLeft();
  });

  it('are served when it comes back without its data', async () => {
    const { held, done, queueNode } = await inLine(QUARANTINE);
    await queueNode.restart();
    await queueNodeOf(nodes, KEY, 3);
    expect(witness.tokens).toEqual([]);
    await held.release();
    await done;
    witness.confirm(24);
    await nodes.nothingLeft();
  });

  it('do not get a lock that is held on and on, when it comes back without its data', async () => {
    const { held, done, queueNode } = await inLine(QUARANTINE);
    await queueNode.restart();
    await until(async () => (await nodes.having(KEY)).length === 5, { within: 30_000 }); // it has it again
    expect(held.isHeld).toBe(true);
    expect(witness.tokens).toEqual([]);
    await held.release();
    await done;
    witness.confirm(24);
    await nodes.nothingLeft();
  });

  it('are served while one node after the other is away', async () => {
    const { held, done } = await inLine();
    await held.release();
    for (const server of nodes.servers) {
      server.pause();
      await new Promise((resolve) => setTimeout(resolve, 50));
      server.resume();
    }
    await done;
    witness.confirm(24);
    await nodes.nothingLeft();
  });
});
