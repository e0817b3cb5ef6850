import { keyBytes } from './lock-table.js';
import type { Claim } from './lock-table.js';

/** Milliseconds that a key is kept for a waiter to whom it was handed over, until it answers: more than between two beats. */
export const HAND_OVER = 1_500;

/** $1 to $5 of statements that take a row. */
export function claimValues({ key, token, ttl, holder, fencingFloor }: Claim): unknown[] {
  return [keyBytes(key), token, holder ?? null, ttl, fencingFloor?.toString() ?? null];
}
