import type { LockInspection } from '../../../core/contract/lock-inspection.js';
import { holdersOf } from '../../kit/place-in-queue.js';
import type { QueuedNode } from './queue-position.js';
import { isShared } from '../../../core/sharing/hold-mode.js';

/** A key, from the nodes of its queue as they were at `revision`. `undefined`: it is free. */
export function inspectionOf(
  key: string,
  line: readonly QueuedNode[],
  revision: bigint,
  mostWaiters: number,
): LockInspection | undefined {
  const holders = holdersOf(line);
  const [first] = holders;
  if (!first) return undefined;
  const waiting = line.slice(holders.length);
  const seen = {
    key,
    holder: first.holder || undefined,
    waiters: waiting.slice(0, mostWaiters).map(({ holder }) => holder),
    waiterCount: waiting.length,
  };
  if (!isShared(first.permits)) return { ...seen, fencingToken: revision };
  return { ...seen, permits: first.permits, holders: holders.map(({ holder }) => holder) };
}
