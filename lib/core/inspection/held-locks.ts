import type { HeldLease } from '../lease/held-lease.js';
import type { Waiters } from '../queue/waiters.js';
import { holdModeOf } from '../sharing/hold-mode.js';
import type { LockHoldMode } from '../sharing/hold-mode.js';

/** A lock that a `LockService` of this process holds. */
export interface HeldLock {
  readonly key: string;
  readonly keys: readonly string[];
  /** `LockOptions.name`. */
  readonly name: string | undefined;
  readonly mode: LockHoldMode;
  /** Maximum number of holders: missing for a write lock, `Infinity` for a read lock. */
  readonly permits: number | undefined;
  /** `'jeopardy'`: the last extension failed, and is tried again. */
  readonly state: 'held' | 'jeopardy';
  /** It is held for longer than its `overdueAfter`. */
  readonly overdue: boolean;
  /** Missing where the store has none, and for sharers. */
  readonly fencingToken: bigint | undefined;
  /** Milliseconds since the grant. */
  readonly heldFor: number;
  /** Milliseconds that the lock may still be relied on without another extension. */
  readonly remaining: number;
  /** Number of callers of the same service that wait for the key; of several keys, for the one with the most. */
  readonly waiters: number;
}

/** In order of the grants. */
export function heldLocks(leases: readonly HeldLease[], waiters: Waiters): HeldLock[] {
  return leases.flatMap((lease) => {
    const { state, keys, options, permits, fencingToken, heldFor, remaining } = lease;
    if (state !== 'held' && state !== 'jeopardy') return [];
    const mode = holdModeOf(permits);
    const waiting = Math.max(...keys.map((key) => waiters.of(key)));
    return {
      key: keys[0]!,
      keys,
      name: options.name,
      mode,
      permits,
      state,
      overdue: lease.overdueWatch?.isOverdue ?? false,
      fencingToken,
      heldFor,
      remaining,
      waiters: waiting,
    };
  });
}
