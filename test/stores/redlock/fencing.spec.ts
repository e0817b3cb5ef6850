import { StubProcess, settled, stubQuorum } from './support/stub-quorum';
import type { StubQuorum } from './support/stub-quorum';

/** Far ahead of the time of day in microseconds, so that only the counters decide. */
const AHEAD = 1n << 52n;

async function withCounters(counters: readonly bigint[]): Promise<StubQuorum> {
  const own = stubQuorum(counters.length);
  for (const [index, counter] of counters.entries()) await own.nodes[index]!.count(AHEAD + counter);
  return own;
}

/** Takes the lock with these nodes down. */
async function tokenWithout({ locks, nodes }: StubQuorum, down: readonly number[]) {
  for (const index of down) nodes[index]!.fail(new Error('down'));
  const { fencingToken } = await locks.withLock('a', async (lock) => lock);
  for (const index of down) nodes[index]!.fail(undefined);
  await settled();
  return fencingToken - AHEAD;
}

describe('Of nodes with different counters', () => {
  beforeAll(() => void jest.spyOn(process, 'emitWarning').mockReturnValue());
  afterAll(() => jest.restoreAllMocks());

  it('each two grants have different tokens, whichever majority gives them', async () => {
    const own = await withCounters([0n, 100n, 50n]);
    const tokens: bigint[] = [];
    for (const down of [0, 2, 1, 0, 0, 2, 2, 1, 1]) tokens.push(await tokenWithout(own, [down]));
    expect(tokens).toEqual(tokens.toSorted((a, b) => Number(a - b)));
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  it('the one that is ahead is not needed to stay ahead of it', async () => {
    const own = await withCounters([0n, 0n, 0n, 0n, 1_000n]);
    const before = await tokenWithout(own, [0, 1]); // nodes 2, 3 and 4
    expect(before).toBeGreaterThan(1_000n);
    expect(await tokenWithout(own, [3, 4])).toBeGreaterThan(before); // only node 2 has seen it
  });

  it('a majority that has the largest counter already is asked once', async () => {
    const own = await withCounters([7n, 7n, 7n]);
    await tokenWithout(own, []);
    for (const node of own.nodes) expect(node.calls).toEqual(['acquire', 'release']);
  });

  it('two nodes tell the other what they agreed on', async () => {
    const own = await withCounters([0n, 100n]);
    const first = await tokenWithout(own, []);
    expect(first).toBe(101n);
    expect(own.nodes[0]!.calls).toEqual(['acquire', 'raise', 'release']);
    expect(await tokenWithout(own, [])).toBe(102n);
  });

  it('a grant is no lock when the majority that had given it does not confirm its token', async () => {
    const { locks, nodes } = await withCounters([0n, 100n, 50n]);
    for (const node of nodes) confirmNot(node);
    await expect(locks.acquire('a', { waitTimeout: 0 })).rejects.toMatchObject({ code: /^LOCK_/ });
    await settled();
    for (const node of nodes) expect(await node.holder('a')).toBeUndefined();
  });

  it('many callers in chaos never get the same token twice, nor a smaller one later', async () => {
    const random = seeded(20);
    const own = await withCounters([0n, 500n, 90n, 300n, 40n]);
    const processes = [own, new StubProcess(own.nodes, own.clock), new StubProcess(own.nodes, own.clock)]; // prettier-ignore
    const tokens: bigint[] = [];
    for (let round = 0; round < 400; round++) {
      const down = own.nodes.filter(() => random() < 0.25);
      for (const node of down) node.fail(new Error('down'));
      const attempts = processes.map(({ locks }) => locks.tryAcquire('a').catch(() => undefined));
      for (const lock of await Promise.all(attempts)) {
        if (!lock) continue;
        tokens.push(lock.fencingToken);
        await lock.release();
      }
      for (const node of down) node.fail(undefined);
      await own.clock.advance(30_000); // the locks that could not be released expire
    }
    expect(tokens.length).toBeGreaterThan(100);
    const steps = tokens.map((token, index) => (index === 0 ? 1n : token - tokens[index - 1]!));
    expect(steps.filter((step) => step <= 0n)).toEqual([]);
  });
});

function confirmNot(node: StubQuorum['nodes'][number]): void {
  const tryAcquire = node.tryAcquire.bind(node);
  node.tryAcquire = async (request) => {
    const lease = await tryAcquire(request);
    return lease && { ...lease, raiseFencing: () => Promise.resolve(false) };
  };
}

/** Numbers from 0 to 1, the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}
