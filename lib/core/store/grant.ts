import type { ResolvedLockOptions } from '../options/lock-options.js';
import { wrongOfLease } from '../contract/store-answers.js';
import { UnknownAnswerError } from '../contract/unknown-answer.js';
import type { FencingRange, HandedOffLease, Lease } from '../contract/lock-store.js';
import { promiseTry } from './store-call.js';

/** A lease as it arrived, with the clock's reading from before the request. */
export interface Grant {
  readonly lease: Lease;
  readonly sentAt: number;
  /** Start of the hold, where that was not the request of `sentAt`: `maxHold` counts from then. */
  readonly heldFrom?: number;
}

/** A holder's hand-off to the next caller in the queue: a grant, or one that the store has still to confirm. */
export type HandedOff = Omit<Grant, 'lease'> & {
  readonly lease: Lease | Promise<Lease | undefined>;
};

/**
 * Validity of a grant: `ttl` minus 1 % for clocks that run at slightly different rates, minus 2 ms for the store's own
 * granularity, counted from BEFORE the request was sent. The formula is that of the Redlock specification
 * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/).
 */
export function validUntil(sentAt: number, ttl: number): number {
  return sentAt + ttl - (ttl * 0.01 + 2);
}

/** Why a grant that arrives at `now` cannot be handed out. `ttl` is missing where the store has none. */
export function whyUseless(
  { lease, sentAt }: Grant,
  now: number,
  ttl: number | undefined,
  { maxHold }: ResolvedLockOptions,
): string | undefined {
  if (lease.lost?.aborted) return 'its session ended';
  const end = ttl === undefined ? sentAt + maxHold : validUntil(sentAt, ttl);
  if (now < end) return undefined;
  const limit = ttl === undefined ? `a maxHold of ${maxHold} ms` : `a ttl of ${ttl} ms`;
  return `its answer took ${Math.round(now - sentAt)} ms, which uses up ${limit}`;
}

/**
 * A lease's hand-off to the next holder. `undefined`: the lease is to be released, also where the store threw, or answered with
 * something that is no lease. With `tokens`: see `QuorumLease.handOffRaising`.
 */
export function tryHandOff(
  lease: Lease,
  ttl: number,
  renew: boolean,
  tokens?: FencingRange,
): HandedOffLease {
  let next: unknown;
  try {
    next = tokens ? lease.handOffRaising?.(ttl, renew, tokens) : lease.handOff?.(ttl, renew);
    if (next instanceof Promise) return next as Promise<Lease | undefined>;
    checkAttempt(next);
    return next;
  } catch {
    return undefined;
  }
}

/** Throws for an answer that is neither a lease nor `undefined`, and gives it back, in case that it was a grant. */
export function checkAttempt(answer: unknown): asserts answer is Lease | undefined {
  const wrong = wrongOfLease(answer);
  if (wrong === undefined) return;
  giveBack(answer as Lease);
  throw new UnknownAnswerError(`undefined or a lease${wrong}`, answer);
}

/** As `checkAttempt`, for an answer to `LockStore.acquire`: it must be a lease. */
export function checkClaim(answer: unknown): asserts answer is Lease {
  if (answer === undefined) throw new UnknownAnswerError('a lease', answer);
  checkAttempt(answer);
}

/** For a lease that no caller awaits any more. When this fails too, its ttl frees the key. */
export function giveBack(lease: Pick<Lease, 'release'> | undefined): void {
  if (lease) promiseTry(() => lease.release()).catch(() => undefined);
}
