import { checkBoolean } from '../../../core/contract/store-answers.js';
import { checkAttempt, checkClaim } from '../../../core/store/grant.js';
import type { Lease } from '../../../core/contract/lock-store.js';

/** Throws for anything but a boolean. Nodes may be stores of any origin. */
export function isTrue(answer: unknown): boolean {
  checkBoolean(answer);
  return answer;
}

/** As `isTrue`, for a question about a lease that the node may not have granted after all: `undefined`. */
export function isStillOurs(answer: unknown): boolean {
  return answer !== undefined && isTrue(answer);
}

/** Whether a node granted the keys. Throws for an answer that is neither a lease nor `undefined`, and gives it back. */
export function isGranted(answer: unknown): boolean {
  checkAttempt(answer);
  return answer !== undefined;
}

/** As `isGranted`, for what a node hands to a waiter: the lease. */
export function asClaim(answer: unknown): Lease {
  checkClaim(answer);
  return answer;
}
