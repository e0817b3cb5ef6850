import { keyBytes } from '../common/lock-table.js';
import type { Claim } from '../common/lock-table.js';

/**
 * Milliseconds that a key is kept for the waiter that got it, until the waiter answers: longer than the interval of heartbeats.
 */
export const HAND_OFF = 1_500;

/**
 * Milliseconds after its last heartbeat for which a waiter counts as alive, in a queue of up to `WAITERS_PER_BEAT`; more in longer
 * ones.
 */
export const HEARTBEAT = 3_000;
/** Milliseconds between two heartbeats of such a waiter. Each writes the whole queue. */
export const BEAT = 1_000;
/** At most this many waiters write within `BEAT`, however long the queue is. */
export const WAITERS_PER_BEAT = 5;
/**
 * Milliseconds that a row is free while callers wait: the waiter that should have taken it is then dead. All waiters are then to
 * send a heartbeat.
 */
export const ROLL_CALL = 500;

/**
 * The fencing token when the row is ours now. Otherwise the ms until it may be free, and the ms until the caller has to queue
 * again.
 */
export type Standing =
  { readonly fencing: bigint } | { readonly remaining: number; readonly interval: number };

export interface Pass {
  readonly fencing: bigint;
  /** A caller of another process waits. */
  readonly isAwaited: boolean;
}

/** $1 to $5 of statements that take a row. */
export function claimValues({ key, token, ttl, holder, fencingFloor }: Claim): unknown[] {
  return [keyBytes(key), token, holder ?? null, ttl, fencingFloor?.toString() ?? null];
}
