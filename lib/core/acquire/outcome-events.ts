import { LockDeadlockError, LockTimeoutError } from '../contract/lock-errors.js';
import type { LockStore } from '../contract/lock-store.js';
import { LockDrainingError } from '../drain/draining-error.js';
import { LockQueueFullError } from '../queue/queue-full-error.js';
import type { AcquireEffort, LockAttemptEvent } from '../events/attempt-events.js';
import type { LockEvents } from '../events/lock-events.js';
import { holdModeOf } from '../sharing/hold-mode.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';

interface OutcomeContext {
  readonly store: LockStore;
  readonly events: LockEvents;
}

/** A call for keys. */
export interface AcquireCall {
  readonly keys: readonly string[];
  readonly options: ResolvedLockOptions;
  readonly effort: AcquireEffort;
  /** The service ended it. */
  readonly isStopped: boolean;
  /** `false`: one attempt. */
  readonly mayWait: boolean;
}

export function attemptEvent(store: LockStore, call: AcquireCall): LockAttemptEvent {
  const { keys, options, effort } = call;
  const mode = holdModeOf(options.permits);
  const what = { key: keys[0]!, keys, name: options.name, mode };
  return { ...what, store: store.name, fencingToken: undefined, ...effort };
}

/** `error` is missing where the call resolves `undefined`. */
export function publishFailure(
  { store, events }: OutcomeContext,
  call: AcquireCall,
  error: unknown,
): void {
  const event = () => ({ ...attemptEvent(store, call), error });
  const reason = refusalOf(call, error);
  if (reason) return events.publish('refused', () => ({ ...event(), reason }));
  if (isAborted(call, error)) return events.publish('aborted', event);
  if (!(error instanceof LockTimeoutError)) return events.publish('failed', event);
  const { heldBy } = error;
  events.publish('timeout', () => ({ ...event(), heldBy, error }));
}

function refusalOf({ mayWait }: AcquireCall, error: unknown) {
  if (error instanceof LockDeadlockError) return 'deadlock'; // also as the reason of the call's own signal
  if (error instanceof LockQueueFullError) return 'queue-full';
  if (error instanceof LockDrainingError) return 'draining';
  const isHeld = error === undefined || (error instanceof LockTimeoutError && !mayWait);
  return isHeld ? 'held' : undefined;
}

function isAborted({ isStopped, options: { signal } }: AcquireCall, error: unknown): boolean {
  return isStopped || (signal?.aborted === true && error === signal.reason);
}
