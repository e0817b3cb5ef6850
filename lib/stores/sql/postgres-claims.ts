import { keyBytes } from './lock-table.js';
import type { Claim } from './lock-table.js';

/** Milliseconds that a key is kept for a waiter to whom it was handed over, until it answers: more than between two beats. */
export const HAND_OVER = 1_500;

/** Milliseconds that a waiter is taken for alive after it was last heard of, in a line of `LINE_PER_BEAT` at most; in longer ones, longer. */
export const HEARTBEAT = 3_000;
/** Milliseconds between two signs of life of such a waiter. Each writes the whole line. */
export const BEAT = 1_000;
/** So many waiters write within `BEAT`, however many there are. */
export const LINE_PER_BEAT = 5;
/** Milliseconds that a row is free while others wait, after which all of them are to say that they live: whoever was to take it is dead. */
export const ROLL_CALL = 500;

/** $1 to $5 of statements that take a row. */
export function claimValues({ key, token, ttl, holder, fencingFloor }: Claim): unknown[] {
  return [keyBytes(key), token, holder ?? null, ttl, fencingFloor?.toString() ?? null];
}
