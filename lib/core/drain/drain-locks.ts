import { eitherOf } from '../async/abort-signals.js';
import { wallClock } from '../async/clock.js';
import { sleep } from '../async/sleep.js';
import type { Clock } from '../async/clock.js';
import type { LockStore } from '../contract/lock-store.js';
import type { LockEvents } from '../events/lock-events.js';
import type { HeldLease } from '../lease/held-lease.js';
import type { LeaseKeeper } from '../lease/lease-keeper.js';
import { thisHolder } from '../store/acquire-request.js';
import { checkDrain } from './drain-options.js';
import type { ServiceEnd } from './service-end.js';
import type { CheckedDrain, LockDrainOptions } from './drain-options.js';

interface DrainContext {
  readonly store: LockStore;
  readonly events: LockEvents;
  readonly clock: Clock;
  readonly keeper: LeaseKeeper;
}

/** The calls of the service that is drained. */
interface Drainable {
  readonly ending: ServiceEnd;
  /** From now on no new work begins. */
  drain(): void;
}

/**
 * Resolves once nothing is held, or after `within`. Rejects with the reason of the signal; nothing is drained if that had aborted
 * before.
 */
export async function drainLocks(
  context: DrainContext,
  calls: Drainable,
  options: LockDrainOptions,
): Promise<void> {
  const checked = checkDrain(options);
  const { within, signal } = checked;
  signal?.throwIfAborted();
  if (!calls.ending.isDraining) {
    calls.drain();
    publish(context, checked);
  }
  const { leases } = context.keeper;
  const ended = calls.ending.idle().then(() => Promise.all(leases.map(answered)));
  const wait = eitherOf(signal);
  try {
    await Promise.race([ended, sleep(context.clock, within, wait.signal)]);
    signal?.throwIfAborted();
  } finally {
    wait.forget();
    wait.abort(undefined);
  }
}

/** A release sends its question before it is answered. */
async function answered(lease: HeldLease): Promise<void> {
  if (lease.state === 'released') await lease.release();
}

function publish({ events, store }: DrainContext, { actor, via, reason }: CheckedDrain): void {
  const what = { actor, via, action: 'drain', key: undefined, store: store.name } as const;
  const tokens = { tokenBefore: undefined, tokenAfter: undefined };
  events.publish('audit', () => ({
    at: wallClock(),
    ...what,
    holder: thisHolder,
    ...tokens,
    reason,
  }));
}
