import type { LockLostError } from '../contract/lock-errors.js';
import type { LockHoldMode } from '../sharing/hold-mode.js';

/** `held → jeopardy → lost | released`; a lock in jeopardy is still held. */
export type LockState = 'held' | 'jeopardy' | 'lost' | 'released';

/** The fields of every event of a lock. */
export interface LockEvent {
  readonly key: string;
  readonly keys: readonly string[];
  /** `LockOptions.name`. */
  readonly name: string | undefined;
  readonly mode: LockHoldMode;
  /** `LockStore.name`. */
  readonly store: string;
  /** Missing where the store has none, and before the grant. */
  readonly fencingToken: bigint | undefined;
}

/** An event of a lock that is held, or was. */
export interface LockHoldEvent extends LockEvent {
  /** Milliseconds since the grant. */
  readonly heldFor: number;
}

export interface LockJeopardyEvent extends LockHoldEvent {
  /** Why the extension failed. It is tried again while validity remains. */
  readonly error: unknown;
  /** Milliseconds of validity left. */
  readonly remaining: number;
}

export interface LockLostEvent extends LockHoldEvent {
  readonly error: LockLostError;
}

/** The work takes longer than `overdueAfter`, or took longer than `maxHold`. */
export interface LockOverdueEvent extends LockHoldEvent {
  /** `true`: `maxHold` was reached. The work may go on, and another caller may have the lock. */
  readonly isLost: boolean;
  /** Milliseconds. */
  readonly maxHold: number;
  /** Milliseconds. */
  readonly overdueAfter: number;
}

export interface LockReleaseFailedEvent extends LockHoldEvent {
  /** Why the store did not confirm the release. The ttl frees the key. */
  readonly error: unknown;
}
