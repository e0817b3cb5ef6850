import type { LockInspection } from '../../core/contract/lock-store.js';

interface Waited {
  readonly inspection: LockInspection | undefined;
  readonly waiting: readonly unknown[];
}

interface Waiters {
  readonly waiterCount: number | undefined;
  /** `host:pid:startTime`. */
  readonly waiters: readonly string[];
}

/**
 * The line of a key: that of the store, and behind it the callers of this process that have no place there. A process has one
 * place in the store's line for all its callers, or one for each.
 */
export function waitersOf({ inspection, waiting }: Waited, reader: string, most: number): Waiters {
  const { waiters, waiterCount = waiters?.length } = inspection ?? {};
  const here = waiting.length;
  if (waiters === undefined || waiterCount === undefined) {
    return { waiterCount: here, waiters: repeated(reader, Math.min(here, most)) };
  }
  const own = waiters.filter((text) => text === reader).length;
  if (waiters.length < waiterCount) {
    return { waiterCount: Math.max(waiterCount, here), waiters: waiters.slice(0, most) };
  }
  const behind = Math.max(0, here - own);
  const line = [...waiters, ...repeated(reader, Math.min(behind, most))];
  return { waiterCount: waiterCount + behind, waiters: line.slice(0, most) };
}

function repeated(text: string, times: number): string[] {
  return Array.from({ length: times }, () => text);
}
