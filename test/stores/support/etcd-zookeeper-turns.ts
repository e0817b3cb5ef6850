import type { AcquireRequest, LockStore } from 'nest-holdfast';

const CALLERS = 12;
const TURNS = 5;

/**
 * Twelve callers share a key, five times each. The first ones keep it until as many as `permits` have it together. Resolves with how
 * many of them held it together at most.
 */
export async function shareInTurns(
  stores: readonly LockStore[],
  permits: number,
  request: () => AcquireRequest,
): Promise<number> {
  let inside = 0;
  let most = 0;
  let gathered!: () => void;
  const areGathered = new Promise<void>((resolve) => (gathered = resolve));
  const callers = Array.from({ length: CALLERS }, async (_, index) => {
    const store = stores[index % stores.length]!;
    for (let turn = 0; turn < TURNS; turn += 1) {
      const { signal } = new AbortController();
      const lease = await store.acquire!(request(), signal);
      most = Math.max(most, ++inside);
      if (most === permits) gathered();
      await areGathered;
      for (let pause = 0; pause < 20; pause += 1) await new Promise(setImmediate);
      inside -= 1;
      if (!(await lease.release())) throw new Error('its lease was not there any more');
    }
  });
  await Promise.all(callers);
  return most;
}
