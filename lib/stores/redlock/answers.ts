import { checkBoolean } from '../../core/contract/store-answers.js';
import { checkAttempt, checkClaim } from '../../core/grant.js';
import type { Lease } from '../../core/lock-store.js';

/** Throws for what is no boolean. Nodes may be anybody's stores. */
export function isTrue(answer: unknown): boolean {
  checkBoolean(answer);
  return answer;
}

/** Whether a node granted the keys. Throws for what is neither a lease nor `undefined`, and gives it back. */
export function isGranted(answer: unknown): boolean {
  checkAttempt(answer);
  return answer !== undefined;
}

/** As `isGranted`, for what a node hands to one who waited: the lease. */
export function asClaim(answer: unknown): Lease {
  checkClaim(answer);
  return answer;
}
