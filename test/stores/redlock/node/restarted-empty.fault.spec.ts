import type { Lock } from 'nest-holdfast';
import type { Quarantine } from 'nest-holdfast/redlock';
import { RedlockNodes, RedlockProcess } from '../support/nodes.js';
import { until } from '../../../support/until.js';

/** A machine that stands still for two seconds loses no lock. */
const TTL = 5_000;
const RESTARTED = 2;
const NOT_HOLDING = [3, 4];

describe('A node that restarted empty', () => {
  let nodes: RedlockNodes;
  let second: RedlockProcess | undefined;
  let first: RedlockProcess;

  beforeEach(async () => {
    nodes = await RedlockNodes.start();
    await nodes.upFor(TTL / 1_000);
  });

  afterEach(async () => {
    await second?.[Symbol.asyncDispose]();
    await first[Symbol.asyncDispose]();
    await nodes[Symbol.asyncDispose]();
  });

  const start = (quarantine: Quarantine) =>
    RedlockProcess.start(nodes, { quarantine, largestTtl: TTL, service: { ttl: TTL } });

  /** The first process holds the key at three nodes, for it cannot reach the others. */
  async function heldAtThree(quarantine: Quarantine): Promise<Lock> {
    first = await start(quarantine);
    await until(() => first.locks.nodes().every(({ state }) => state === 'up')); // three are needed, and three are left
    for (const index of NOT_HOLDING) first.proxies[index]!.refuse();
    for (const index of NOT_HOLDING) first.proxies[index]!.cutAll();
    await until(() => NOT_HOLDING.every((index) => first.clients[index]!.status !== 'ready'));
    const lock = await first.locks.acquire('order:42');
    expect(await nodes.having('order:42')).toEqual([0, 1, 2]);
    return lock;
  }

  /** The second process tries until it has the key, or the first one has not. */
  async function triedWhile(lock: Lock): Promise<{ taken: Lock | undefined; attempts: number }> {
    const seen: { taken: Lock | undefined; attempts: number } = { taken: undefined, attempts: 0 };
    const isOver = async () => {
      if (!lock.isHeld) return true;
      const taken = await second!.locks.tryAcquire('order:42');
      seen.attempts++;
      seen.taken = lock.isHeld ? taken : undefined;
      return taken;
    };
    await until(isOver, { within: 30_000, every: 10 });
    return seen;
  }

  it.each([true, 'unless-all-fresh'] as const)(
    'does not let in a second holder that comes later (quarantine: %s)',
    async (quarantine) => {
      const lock = await heldAtThree(quarantine);
      await nodes.servers[RESTARTED]!.restart();
      second = await start(quarantine);
      const { taken, attempts } = await triedWhile(lock);
      expect(taken).toBeUndefined();
      expect(attempts).toBeGreaterThan(10);
      const next = await second.locks.acquire('order:42', { waitTimeout: 20_000 });
      expect(lock.isHeld).toBe(false);
      await next.release();
    },
  );

  it('does not let in a second holder that was there before', async () => {
    second = await start('unless-all-fresh');
    await second.locks.withLock('warm-up', async () => {});
    const lock = await heldAtThree('unless-all-fresh');
    await nodes.servers[RESTARTED]!.restart();
    const { taken, attempts } = await triedWhile(lock);
    expect(taken).toBeUndefined();
    expect(attempts).toBeGreaterThan(10);
    expect(second.told(RESTARTED)).toContain('quarantined');
  });

  it('lets in a second holder without quarantine: this test would notice', async () => {
    const lock = await heldAtThree(false);
    await nodes.servers[RESTARTED]!.restart();
    second = await start(false);
    const { taken } = await triedWhile(lock);
    expect(taken?.isHeld).toBe(true);
    expect(lock.isHeld).toBe(true);
  });
});
