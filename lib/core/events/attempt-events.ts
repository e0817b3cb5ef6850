import type { LockTimeoutError } from '../contract/lock-errors.js';
import type { LockEvent } from './hold-events.js';

/** The time and the attempts of a call for a lock. */
export interface AcquireEffort {
  /** Milliseconds since the call. */
  readonly waited: number;
  /** Number of questions to the store. `0`: the lock was handed off inside the process, or the store was not asked. */
  readonly attempts: number;
}

/** The state of a call that has no lock, or got it just now. */
export interface LockAttemptEvent extends LockEvent, AcquireEffort {}

/**
 * A call ended without a lock, and did not wait, or not to its end.
 *
 * - `held`: one attempt, and another caller has the lock
 * - `queue-full`: `maxWaiting` or `maxWaitingTotal` is reached
 * - `deadlock`: the caller would wait for itself
 * - `draining`: the service takes on no new work
 */
export interface LockRefusedEvent extends LockAttemptEvent {
  readonly reason: 'held' | 'queue-full' | 'deadlock' | 'draining';
  /** The reason of the call's rejection. Missing: `tryAcquire` resolved `undefined`. */
  readonly error: unknown;
}

export interface LockTimeoutEvent extends LockAttemptEvent {
  /** `LockTimeoutError.heldBy`. */
  readonly heldBy: string | undefined;
  readonly error: LockTimeoutError;
}

/** A call ended without a lock, by an error of the store or by the end of its wait. */
export interface LockFailedEvent extends LockAttemptEvent {
  /** The reason of the call's rejection. */
  readonly error: unknown;
}

/** A lock was taken from its holder by hand, or a service takes on no new work. */
export interface LockAuditEvent {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The person or program that did it. */
  readonly actor: string | undefined;
  /** The tool of the actor: the command line, the page. */
  readonly via: string;
  readonly action: 'evict' | 'drain';
  /** Missing with `drain`, which is about all keys of the service. */
  readonly key: string | undefined;
  /** `LockStore.name`. */
  readonly store: string;
  /** The holder before; with `drain`, the process of the service: `host:pid:startTime`. */
  readonly holder: string | undefined;
  readonly tokenBefore: bigint | undefined;
  readonly tokenAfter: bigint | undefined;
  readonly reason: string | undefined;
}
