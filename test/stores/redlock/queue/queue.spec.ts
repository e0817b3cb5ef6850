import { CommandLog } from '../../support/command-log.js';
import { RedlockInstance, Witness, queueNodeOf, lineLengths } from '../support/redlock-instance.js';
import type { InstanceOptions } from '../support/redlock-instance.js';
import { RedlockNodes } from '../support/nodes.js';

const KEY = 'order:42';

describe('The line for a lock on five nodes', () => {
  let nodes: RedlockNodes;

  beforeEach(async () => {
    nodes = await RedlockNodes.start();
  });

  afterEach(() => nodes[Symbol.asyncDispose]());

  it.each([
    ['with', 8],
    ['without', 0],
  ])('serves the callers of one process in order, %s hand-off', async (_, localPassLimit) => {
    await using own = await RedlockInstance.start(nodes, { localPassLimit });
    const witness = new Witness();
    const order: number[] = [];
    const work = (index: number) => () => order.push(index);
    const calls = Array.from({ length: 128 }, (__, index) =>
      own.locks.withLock(KEY, (lock) => witness.watch(lock, work(index))),
    );
    await Promise.all(calls);
    expect(order).toEqual(order.map((__, index) => index));
    witness.confirm(128);
    await nodes.nothingLeft();
  });

  it.each([
    ['with', 2, 8],
    ['without', 2, 0],
    ['with', 4, 8],
    ['without', 4, 0],
  ])('refuses no caller %s hand-off, of %i processes with 32 each', async (_, count, limit) => {
    await using own = await processes(count, { localPassLimit: limit });
    const witness = new Witness();
    const calls = own.all.flatMap(({ locks }) =>
      Array.from({ length: 32 }, () => locks.withLock(KEY, (lock) => witness.watch(lock))),
    );
    await Promise.all(calls);
    witness.confirm(32 * count);
    await nodes.nothingLeft();
  });

  it('is at one node, in the order in which processes came', async () => {
    await using own = await processes(4);
    const [holder, ...others] = own.all as [RedlockInstance, ...RedlockInstance[]];
    const held = await holder.locks.acquire(KEY);
    const order: number[] = [];
    const done: Promise<unknown>[] = [];
    for (const index of [1, 0, 2]) {
      done.push(others[index]!.locks.withLock(KEY, async () => order.push(index)));
      await queueNodeOf(nodes, KEY, done.length);
    }
    await held.release();
    await Promise.all(done);
    expect(order).toEqual([1, 0, 2]);
  });

  it('is at different nodes for different keys', async () => {
    await using own = await processes(2);
    const [holder, waiter] = own.all as [RedlockInstance, RedlockInstance];
    const keys = Array.from({ length: 20 }, (_, index) => `order:${index}`);
    const held = await Promise.all(keys.map((key) => holder.locks.acquire(key)));
    const waiting = keys.map((key) => waiter.locks.withLock(key, async () => undefined));
    const arbiters = await Promise.all(keys.map((key) => queueNodeOf(nodes, key)));
    expect(new Set(arbiters).size).toBeGreaterThan(2);
    await Promise.all(held.map((lock) => lock.release()));
    await Promise.all(waiting);
  });

  it('comes before those who only try', async () => {
    await using own = await processes(3);
    const [holder, waiter, other] = own.all as [RedlockInstance, RedlockInstance, RedlockInstance];
    const held = await holder.locks.acquire(KEY);
    const waiting = waiter.locks.acquire(KEY);
    await queueNodeOf(nodes, KEY);
    expect(await other.locks.tryAcquire(KEY)).toBeUndefined();
    await held.release();
    await (await waiting).release();
  });

  it('costs 11 commands for each grant at most without hand-off, and under 1 with it', async () => {
    expect(await commandsPerGrant(0)).toBeLessThanOrEqual(11);
    expect(await commandsPerGrant(8)).toBeLessThan(1);
  });

  /** Of 128 in one process, whose nodes know all scripts already. */
  async function commandsPerGrant(localPassLimit: number): Promise<number> {
    await using own = await RedlockInstance.start(nodes, { localPassLimit });
    const burst = (key: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, () => own.locks.withLock(key, async () => undefined)),
      );
    for (let index = 0; index < 30; index++) await burst(`warm:${index}`, 4);
    const logs = await Promise.all(
      own.clients.map((client, index) => CommandLog.of(client, nodes.servers[index]!.url)),
    );
    await Promise.all(logs.map((log) => log.commands()));
    await burst(KEY, 128);
    await nodes.nothingLeft();
    const commands = (await Promise.all(logs.map((log) => log.commands()))).flat();
    await Promise.all(logs.map((log) => log[Symbol.asyncDispose]()));
    return commands.length / 128;
  }

  async function processes(count: number, options?: InstanceOptions) {
    const starts = Array.from({ length: count }, () => RedlockInstance.start(nodes, options));
    const all = await Promise.all(starts);
    return {
      all,
      async [Symbol.asyncDispose]() {
        for (const each of all) await each[Symbol.asyncDispose]();
        expect(await lineLengths(nodes, KEY)).toEqual([0, 0, 0, 0, 0]);
      },
    };
  }
});
