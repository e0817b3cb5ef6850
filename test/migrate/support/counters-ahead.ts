import { randomUUID } from 'node:crypto';
import { openStore } from '../../support/histories/workers/open-store.js';
import type { StoreAddress } from '../../support/histories/workers/open-store.js';
import { until } from '../../support/until.js';

/** Microseconds by which each round is ahead of the one before. */
const ROUND = 1_000_000n;
/** Of the workers. */
const KEYS = ['a', 'b', 'c'];

/**
 * Sets the fencing counters of a target ahead of those of the source, again and again, so that tokens of the source have to be raised: as a
 * target that was used before. Until `isOver`.
 */
export async function keepCountersAhead(address: StoreAddress, isOver: () => boolean) {
  const { store, close } = await openStore(address, 2_000);
  let fencingFloor = BigInt(Date.now()) * 1_000n;
  const setAhead = async (key: string) => {
    const request = { key, keys: [key], token: randomUUID(), ttl: 1_000, fencingFloor };
    await (await store.tryAcquire(request))?.release();
  };
  await until(
    async () => {
      fencingFloor += ROUND;
      await Promise.all(KEYS.map(setAhead));
      return isOver();
    },
    { within: 180_000, every: 100, what: 'the end of those that wait for a raise' },
  );
  await store.close?.();
  await close();
}
