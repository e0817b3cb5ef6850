import type { LockStore } from '../contract/lock-store.js';
import { holdModeOf } from '../events/hold-mode.js';
import { tracing } from '../events/tracing.js';
import type { HeldLease } from '../lease/held-lease.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';

/** For an acquisition whose lease is used once its trace has ended, some promises later. */
export function theLease(held: HeldLease): HeldLease {
  return held;
}

/** Settles as `acquire` does, and tells the subscribers of `nest-holdfast:acquire`. */
export function tracedLease<Held extends HeldLease | undefined>(
  { name: store }: LockStore,
  keys: readonly string[],
  { name, permits, waitTimeout }: ResolvedLockOptions,
  acquire: () => Promise<Held>,
): Promise<Held> {
  const what = { key: keys[0]!, keys, name, mode: holdModeOf(permits), store, waitTimeout };
  return tracing.acquire(what, acquire);
}
