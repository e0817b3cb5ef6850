import type { Lock } from 'nest-holdfast';
import type { RedlockProcess } from '../../stores/redlock/support/nodes.js';

const CALLERS = 3;

/** The findings of many callers in several processes that took one key again and again. */
export interface Contention {
  /** Locks that were taken. */
  count: number;
  /** Locks that were valid when another one was granted. */
  readonly overlaps: string[];
  /** Fencing tokens in the order of the grants. */
  readonly tokens: bigint[];
  readonly errors: unknown[];
}

/** Every process takes `key` again and again until `isOver`, extends it and releases it. */
export async function contend(
  processes: readonly RedlockProcess[],
  key: string,
  isOver: (seen: Contention) => boolean,
): Promise<Contention> {
  const seen: Contention = { count: 0, overlaps: [], tokens: [], errors: [] };
  const held = new Set<Lock>();
  const work = async (lock: Lock): Promise<void> => {
    const others = [...held].filter(({ isHeld }) => isHeld);
    for (const { fencingToken } of others) seen.overlaps.push(`${fencingToken} and ${lock.fencingToken}`); // prettier-ignore
    held.add(lock);
    seen.count++;
    seen.tokens.push(lock.fencingToken);
    if (seen.count % 3 === 0) await lock.extend(5_000);
    held.delete(lock);
  };
  const caller = async ({ locks }: RedlockProcess): Promise<void> => {
    while (!isOver(seen)) {
      await locks.withLock(key, work).catch((error: unknown) => seen.errors.push(error));
    }
  };
  const callers = processes.flatMap((each) => Array.from({ length: CALLERS }, () => caller(each)));
  await Promise.all(callers);
  return seen;
}

/** No two callers had the key at once, and nothing failed. */
export function expectExclusion({ overlaps, tokens, errors }: Contention): void {
  expect(errors).toEqual([]);
  expect(overlaps).toEqual([]);
  expect(tokens.filter((token, index) => index > 0 && token <= tokens[index - 1]!)).toEqual([]);
}
