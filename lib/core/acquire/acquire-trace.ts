import type { AcquireEffort } from '../events/attempt-events.js';
import { holdModeOf } from '../sharing/hold-mode.js';
import type { HeldLease } from '../lease/held-lease.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import type { AcquisitionContext } from './acquisition-context.js';
import { endedEarly } from './attempt-errors.js';

/** Called with an acquisition as soon as it has begun. */
export type Begun = (acquisition: { readonly effort: AcquireEffort }) => void;

/** For an acquisition whose lease is used once its trace has ended, some promises later. */
export function theLease(held: HeldLease): HeldLease {
  return held;
}

/** Settles as `acquire` does, and tells the tracers of the service. */
export async function tracedLease<Held extends HeldLease | undefined>(
  { store, events, tracing }: AcquisitionContext,
  keys: readonly string[],
  { name, permits, waitTimeout }: ResolvedLockOptions,
  acquire: (begun: Begun) => Promise<Held>,
): Promise<Held> {
  const what = { key: keys[0]!, keys, name, mode: holdModeOf(permits), store: store.name };
  const message = { events, ...what, waitTimeout };
  const held = await tracing.acquire(message, async () => {
    let begun: Parameters<Begun>[0] | undefined;
    try {
      return await acquire((acquisition) => (begun = acquisition));
    } finally {
      Object.assign(message, begun?.effort);
    }
  });
  if (held?.lostError) throw endedEarly(store, held.lostError);
  return held;
}
