import type { AcquireEffort } from '../events/attempt-events.js';
import { holdModeOf } from '../sharing/hold-mode.js';
import type { LockHoldMode } from '../sharing/hold-mode.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';

/** A call of this process that waits for a lock. */
export interface WaitingCall {
  readonly key: string;
  readonly keys: readonly string[];
  /** `LockOptions.name`. */
  readonly name: string | undefined;
  readonly mode: LockHoldMode;
  /** Milliseconds since the call. */
  readonly waited: number;
}

/** A call that has not ended. */
interface PendingCall {
  readonly keys: readonly string[];
  readonly options: ResolvedLockOptions;
  readonly effort: AcquireEffort;
  /** It was refused at first. */
  readonly isInWait: boolean;
}

/** In order of the calls. */
export function waitingCalls(pending: readonly PendingCall[]): WaitingCall[] {
  return pending.flatMap(({ isInWait, keys, options, effort }) => {
    if (!isInWait) return [];
    const { name, permits } = options;
    return { key: keys[0]!, keys, name, mode: holdModeOf(permits), waited: effort.waited };
  });
}
