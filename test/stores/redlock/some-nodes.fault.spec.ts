import { RedlockNodes, RedlockProcess } from './support/nodes.js';
import { contend, expectExclusion } from '../../support/faults/redlock-contention.js';

/** Locks that are taken; fewer where the one at which callers stand in line may be slow. */
const ROUNDS = 60;
const SLOW_ROUNDS = 10;
const LONG = 30_000;

interface Fault {
  begin(nodes: RedlockNodes, processes: readonly RedlockProcess[], index: number): unknown;
  end(nodes: RedlockNodes, processes: readonly RedlockProcess[], index: number): unknown;
}

const replies = (processes: readonly RedlockProcess[], index: number) =>
  processes.map(({ proxies }) => proxies[index]!.replies);

const FAULTS: Readonly<Record<string, Fault>> = {
  'are down': {
    begin: ({ servers }, _, index) => servers[index]!.kill(),
    end: ({ servers }, _, index) => servers[index]!.restart(),
  },
  hang: {
    begin: ({ servers }, _, index) => servers[index]!.pause(),
    end: ({ servers }, _, index) => servers[index]!.resume(),
  },
  'are slow': {
    begin: (_, processes, index) => replies(processes, index).forEach((gate) => gate.delay(200)),
    end: (_, processes, index) => replies(processes, index).forEach((gate) => gate.pass()),
  },
  'answer long after the locks were released': {
    begin: (_, processes, index) => replies(processes, index).forEach((gate) => gate.hold()),
    end: (_, processes, index) => replies(processes, index).forEach((gate) => gate.pass()),
  },
  'lose what is sent to them': {
    begin: (_, processes, index) =>
      processes.forEach(({ proxies }) => proxies[index]!.requests.drop()),
    end: (_, processes, index) =>
      processes.forEach(({ proxies }) => {
        proxies[index]!.pass();
        proxies[index]!.cutAll();
      }),
  },
};

describe.each(Object.entries(FAULTS))('When nodes of five %s,', (name, fault) => {
  const rounds = name === 'are slow' ? SLOW_ROUNDS : ROUNDS;
  let nodes: RedlockNodes;
  let one: RedlockProcess;
  let two: RedlockProcess;

  beforeEach(async () => {
    nodes = await RedlockNodes.start();
    one = await RedlockProcess.start(nodes, { service: { ttl: LONG } });
    two = await RedlockProcess.start(nodes, { service: { ttl: LONG } });
    for (const { locks } of [one, two]) await locks.withLock('warm-up', async () => {});
  });

  afterEach(async () => {
    await one[Symbol.asyncDispose]();
    await two[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  const broken = async (indices: readonly number[], verb: 'begin' | 'end') => {
    for (const index of indices) await fault[verb](nodes, [one, two], index);
  };

  it.each([[[4]], [[0, 3]]])('as %j do, locks are taken, extended and released', async (bad) => {
    await broken(bad, 'begin');
    const lock = await one.locks.acquire('order:42');
    await lock.extend(LONG);
    expect(await two.locks.tryAcquire('order:42')).toBeUndefined();
    expect(lock.isHeld).toBe(true);
    expect(await lock.release()).toBe(true);
    const next = await two.locks.acquire('order:42');
    expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
    expect(await next.release()).toBe(true);
    await broken(bad, 'end');
    await nodes.nothingLeft(); // long before any ttl ends
  });

  it.each([[[4]], [[0, 3]]])('as %j do, no two have a key at once', async (bad) => {
    await broken(bad, 'begin');
    const seen = await contend([one, two], 'order:42', ({ count }) => count >= rounds);
    expectExclusion(seen);
    await broken(bad, 'end');
    expectExclusion(await contend([one, two], 'order:42', ({ count }) => count >= rounds));
    await nodes.nothingLeft();
  });

  it('as two do during a hold, the lock survives, is extended and is released everywhere', async () => {
    const lost = jest.fn();
    one.locks.events.on('lost', lost);
    const lock = await one.locks.acquire('order:42');
    await one.answered();
    await broken([1, 2], 'begin');
    await lock.extend(LONG);
    expect(await two.locks.tryAcquire('order:42')).toBeUndefined();
    await broken([1, 2], 'end');
    await lock.extend(LONG);
    expect(await lock.release()).toBe(true);
    expect(lost).not.toHaveBeenCalled();
    await nodes.nothingLeft();
  });
});
