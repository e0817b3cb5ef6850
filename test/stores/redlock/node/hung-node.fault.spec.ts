import type { Redis } from 'ioredis';
import { RedlockNodes, RedlockProcess } from '../support/nodes.js';
import { until } from '../../../support/until.js';

const HUNG = 2;
/** Longer than any test: a call that waits for the hung node never ends. */
const FOREVER = 300_000;

describe('When a node hangs,', () => {
  let nodes: RedlockNodes;

  beforeAll(async () => void (nodes = await RedlockNodes.start()));
  afterAll(() => nodes[Symbol.asyncDispose]());
  afterEach(async () => {
    nodes.servers[HUNG]!.resume();
    await nodes.nothingLeft();
  });

  /** A process that has used its nodes. */
  async function started(nodeTimeout?: number): Promise<RedlockProcess> {
    const own = await RedlockProcess.start(nodes, nodeTimeout ? { nodeTimeout } : {});
    await until(() => own.locks.withLock('warm-up', async () => true));
    await own.answered();
    return own;
  }

  /** Takes and gives back so many locks. */
  async function use({ locks }: RedlockProcess, count: number): Promise<void> {
    const keys = Array.from({ length: count }, (_, index) => `use:${index}`);
    await Promise.all(keys.map((key) => locks.withLock(key, async () => {})));
  }

  /** Uses the locks until `condition`. */
  async function useUntil(own: RedlockProcess, condition: () => unknown, what: string) {
    const isMet = async () => {
      await use(own, 3);
      return condition();
    };
    await until(isMet, { within: 30_000, what });
  }

  it('an acquire, an extension and a release do not wait for it', async () => {
    await using own = await started(FOREVER);
    nodes.servers[HUNG]!.pause();
    const before = own.proxies[HUNG]!.replies.bytes;
    const lock = await own.locks.acquire('order:42');
    await lock.extend(20_000);
    expect(await lock.release()).toBe(true);
    expect(own.proxies[HUNG]!.replies.bytes).toBe(before);
    nodes.servers[HUNG]!.resume();
    await nodes.nothingLeft();
  });

  it('it is suspended, gets hardly any command until it answers, and then as many as the others', async () => {
    await using own = await started();
    nodes.servers[HUNG]!.pause();
    await useUntil(own, () => own.told(HUNG).includes('suspended'), 'it to be suspended');

    const sent = (index: number) => own.proxies[index]!.requests.bytes;
    const before = own.proxies.map((_, index) => sent(index));
    for (let round = 0; round < 10; round++) await use(own, 50);
    const healthy = Math.min(...[0, 1, 3, 4].map((index) => sent(index) - before[index]!));
    expect((sent(HUNG) - before[HUNG]!) * 10).toBeLessThan(healthy);
    expect(own.told(HUNG)).toEqual(['suspended']);

    nodes.servers[HUNG]!.resume();
    await useUntil(own, () => own.told(HUNG).includes('recovered'), 'it to recover');
    expect(own.told(HUNG)).toEqual(['suspended', 'recovered']);
    const lock = await own.locks.acquire('order:42');
    await until(async () => (await nodes.having('order:42')).includes(HUNG));
    await lock.release();
    for (const index of [0, 1, 3, 4]) expect(own.told(index)).toEqual([]);
  });

  it('it is probed in vain, and not told to be suspended again and again', async () => {
    await using own = await started(300);
    nodes.servers[HUNG]!.pause();
    await useUntil(own, () => own.told(HUNG).includes('suspended'), 'it to be suspended');
    let probes = 0;
    let last = own.proxies[HUNG]!.requests.bytes;
    await useUntil(
      own,
      () => {
        const { bytes } = own.proxies[HUNG]!.requests;
        if (bytes > last) probes++;
        last = bytes;
        return probes >= 3;
      },
      'three probes',
    );
    expect(own.told(HUNG)).toEqual(['suspended']);
    nodes.servers[HUNG]!.resume();
    await nodes.nothingLeft(); // while the process that asked is still there
  });

  it('many thousand locks leave a bounded number of calls open at it', async () => {
    await using own = await started();
    nodes.servers[HUNG]!.pause();
    const open = openCalls(own.clients[HUNG]!);
    await useUntil(own, () => own.told(HUNG).includes('suspended'), 'it to be suspended');
    const before = open();
    expect(before).toBeGreaterThan(0);
    for (let round = 0; round < 50; round++) await use(own, 100);
    expect(open() - before).toBeLessThan(250); // probes, of which there are fewer and fewer
    nodes.servers[HUNG]!.resume();
    await until(() => open() === 0, { what: 'all calls to be answered', within: 30_000 });
    await nodes.nothingLeft();
  });
});

/** Commands that were sent and have no answer. */
function openCalls(client: Redis): () => number {
  const { commandQueue } = client as unknown as { commandQueue: { readonly length: number } };
  return () => commandQueue.length;
}
