import { inRootContext } from '../async/root-context.js';
import { monotonicTime } from '../async/clock.js';
import { withoutSecrets } from '../contract/safe-error.js';
import { checkBoolean } from '../contract/store-answers.js';
import { BoundedCall } from '../store/bounded-call.js';
import { checkAttempt, giveBack } from '../store/grant.js';
import type { LeaseState } from './lease-state.js';
import type { Lease } from '../contract/lock-store.js';

/** The store did not say whether the key was ours. */
export class Unconfirmed {
  constructor(readonly error: unknown) {}
}

/** Whether the key was ours until its return. */
export type Returned = boolean | Unconfirmed;

/** Milliseconds that a lease outlives the grace of its holder: the caller that evicts takes the key before. */
const RETIRE_MARGIN = 2_000;

/**
 * The meaning of an answer to the return of a held lease with `remaining` ms of validity: after that, the ttl may have freed a
 * missing key.
 */
export function unlessLate(returned: Returned, remaining: number): Returned {
  if (remaining > 0 || returned !== false) return returned;
  return new Unconfirmed(new Error('the answer came after the ttl, which may have freed the key'));
}

type Then<Result> = (returned: Returned) => Result;

/** The return of a lease to its store, by `give`. Never rejects: the ttl frees keys that a failing store keeps. */
class LeaseReturn<Result> extends BoundedCall<boolean, Result> {
  readonly within: number;
  readonly check = checkBoolean;

  /** `ask` gives it back. */
  constructor(
    { options }: LeaseState,
    readonly ask: () => Promise<boolean>,
    readonly read: Then<Result>,
  ) {
    super();
    this.within = options.storeTimeout;
  }

  recover(error: unknown): Result {
    return this.read(unconfirmed(error));
  }
}

/** A store that failed. */
export function unconfirmed(error: unknown): Unconfirmed {
  return new Unconfirmed(withoutSecrets(error));
}

/** Frees the key of a lease that its holder does not return. */
export function free<Result>(held: LeaseState, then: Then<Result>): Promise<Result> {
  return new LeaseReturn(held, () => held.granted.release(), then).send(held.context.calls);
}

/** The store has been asked to hand the lease off. */
export function handedOff<Result>(
  held: LeaseState,
  lease: Promise<Lease | undefined>,
  then: Then<Result>,
): Promise<Result> {
  const give = async () => (await checked(held, lease)) !== undefined;
  return new LeaseReturn(held, give, then).send(held.context.calls);
}

/** Leaves the key in the store for `rest` more milliseconds, at least one. */
export function freeAfter<Result>(
  held: LeaseState,
  rest: number,
  then: Then<Result>,
): Promise<Result> {
  const { granted, context } = held;
  const keep = () => granted.extend(Math.ceil(rest));
  if (context.store.supports.ttl) return new LeaseReturn(held, keep, then).send(context.calls);
  // A key that lives as long as its session has to be freed by hand; when the process ends first, the session does too.
  const moment = monotonicTime(context.clock) + rest;
  inRootContext(() => freeAt(held, moment));
  return Promise.resolve(then(true));
}

/** The holder was asked to stop within `grace` ms: the keys stay taken. */
export function retire(held: LeaseState, grace: number): void {
  const ms = grace + RETIRE_MARGIN;
  const { granted, context } = held;
  const retired = granted.retire && (() => granted.retire!(ms));
  if (retired) void new LeaseReturn(held, retired, () => undefined).send(context.calls);
  else void freeAfter(held, ms, () => undefined);
}

/** By the monotonic clock: one of our timers may be early by it. */
function freeAt(held: LeaseState, moment: number): void {
  const { clock } = held.context;
  const rest = moment - monotonicTime(clock);
  if (rest <= 0) void free(held, () => undefined);
  else clock.schedule(rest, () => freeAt(held, moment), true);
}

/** An answer that is no lease could mean anything: this lease goes back, too. */
async function checked(
  held: LeaseState,
  next: Promise<Lease | undefined>,
): Promise<Lease | undefined> {
  const lease = await next;
  try {
    checkAttempt(lease);
    return lease;
  } catch (error) {
    giveBack(held.granted);
    throw error;
  }
}
