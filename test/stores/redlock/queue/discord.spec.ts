import { TcpProxy } from '../../../support/processes/tcp-proxy.js';
import { RedlockInstance, Witness, lineLengths } from '../support/redlock-instance.js';
import type { InstanceOptions } from '../support/redlock-instance.js';
import { RedlockNodes } from '../support/nodes.js';
import { until } from '../../../support/until.js';

const KEY = 'order:42';
const CALLERS = 32;

describe('Processes that do not agree on the queue node', () => {
  let nodes: RedlockNodes;

  beforeEach(async () => {
    nodes = await RedlockNodes.start();
  });

  afterEach(() => nodes[Symbol.asyncDispose]());

  async function compete(processes: readonly RedlockInstance[]): Promise<void> {
    const witness = new Witness();
    const calls = processes.flatMap(({ locks }) =>
      Array.from({ length: CALLERS }, () => locks.withLock(KEY, (lock) => witness.watch(lock))),
    );
    await Promise.all(calls);
    witness.confirm(CALLERS * processes.length);
    await nodes.nothingLeft();
  }

  it.each([
    ['with', 8],
    ['without', 0],
  ])(
    'because each lists the nodes in its own order, all get the lock, %s hand-off',
    async (_, limit) => {
      const urls = nodes.servers.map(({ url }) => url);
      const orders = [0, 2, 4].map((first) => [...urls.slice(first), ...urls.slice(0, first)]);
      await using own = await started(
        orders.map((order) => ({ urls: order, localPassLimit: limit })),
      );
      await compete(own.all);
    },
  );

  it.each([
    ['with', 8],
    ['without', 0],
  ])('because one cannot reach it, all get the lock, %s hand-off', async (_, localPassLimit) => {
    const proxies = await Promise.all(nodes.servers.map(({ port }) => TcpProxy.start(port)));
    const urls = proxies.map(({ url }) => url);
    await using own = await started([{ urls, localPassLimit }, { localPassLimit }, { localPassLimit }]); // prettier-ignore
    const queueNode = await chosenBy(own.all);
    proxies[queueNode]!.refuse();
    proxies[queueNode]!.cutAll();
    await until(() => own.all[0]!.clients[queueNode]!.status !== 'ready');
    await compete(own.all);
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  });

  it('stand in two lines, and one lock goes to both', async () => {
    const urls = nodes.servers.map(({ url }) => url);
    const orders = [urls, [...urls.slice(2), ...urls.slice(0, 2)]];
    await using own = await started([{}, ...orders.map((order) => ({ urls: order }))]);
    const [holder, ...waiters] = own.all as [RedlockInstance, ...RedlockInstance[]];
    const held = await holder.locks.acquire(KEY);
    const witness = new Witness();
    const served = waiters.map(({ locks }) => locks.withLock(KEY, (lock) => witness.watch(lock)));
    await until(async () => (await lineLengths(nodes, KEY)).filter(Boolean).length === 2);
    await held.release();
    await Promise.all(served);
    witness.confirm(2);
    await nodes.nothingLeft();
  });

  /** Where they all stand in line now. */
  async function chosenBy([holder, waiter]: readonly RedlockInstance[]): Promise<number> {
    const held = await holder!.locks.acquire(KEY);
    const waiting = waiter!.locks.withLock(KEY, async () => undefined);
    const inLine = async () => (await lineLengths(nodes, KEY)).indexOf(1);
    await until(async () => (await inLine()) >= 0);
    const queueNode = await inLine();
    await held.release();
    await waiting;
    return queueNode;
  }

  async function started(options: readonly InstanceOptions[]) {
    const all = await Promise.all(options.map((each) => RedlockInstance.start(nodes, each)));
    return {
      all,
      async [Symbol.asyncDispose]() {
        for (const each of all) await each[Symbol.asyncDispose]();
      },
    };
  }
});
