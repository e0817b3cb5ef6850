import { inRootContext } from '../async/root-context.js';
import { monotonicTime } from '../async/clock.js';
import { withoutSecrets } from '../contract/safe-error.js';
import { checkBoolean } from '../contract/store-answers.js';
import { checkAttempt, giveBack } from '../store/grant.js';
import type { LeaseState } from './lease-state.js';
import type { Lease } from '../contract/lock-store.js';

/** Whether the store answered, and if so, whether the key was still ours until then. */
export type Returned =
  | { readonly isConfirmed: true; readonly wasOurs: boolean }
  | { readonly isConfirmed: false; readonly error: unknown };

/** Milliseconds that a lease outlives the grace of its holder: whoever asked takes the key before. */
const RETIRE_MARGIN = 2_000;

/**
 * The meaning of an answer to the return of a held lease with `remaining` ms of validity: after that, the ttl may have freed a
 * missing key.
 */
export function unlessLate(returned: Returned, remaining: number): Returned {
  if (remaining > 0 || !returned.isConfirmed || returned.wasOurs) return returned;
  const error = new Error('the answer came after the ttl, which may have freed the key');
  return { isConfirmed: false, error };
}

type Then<Result> = (returned: Returned) => Result;

/** The return of a lease to its store. Nothing here rejects: the ttl frees keys that a failing store keeps. */
export class LeaseReturn {
  readonly #held: LeaseState;

  constructor(held: LeaseState) {
    this.#held = held;
  }

  /** Frees the key. `isValid`: whether it cannot have ended by its ttl. */
  now<Result>(then: Then<Result>, isValid?: () => boolean): Promise<Result> {
    return this.#confirmed(() => this.#held.granted.release(isValid), then);
  }

  /** The store has been asked to hand the lease off. */
  handedOff<Result>(lease: Promise<Lease | undefined>, then: Then<Result>): Promise<Result> {
    return this.#confirmed(async () => (await this.#checked(lease)) !== undefined, then);
  }

  /** Leaves the key in the store for `rest` more milliseconds. */
  after<Result>(rest: number, then: Then<Result>): Promise<Result> {
    const { granted, context } = this.#held;
    if (rest < 1) return this.now(then, () => this.#held.remaining > 0);
    if (context.store.supports.ttl)
      return this.#confirmed(() => granted.extend(Math.ceil(rest)), then);
    // A key that lives as long as its session has to be freed by hand; when the process ends first, the session does too.
    const moment = monotonicTime(context.clock) + rest;
    inRootContext(() => this.#freeAt(moment));
    return Promise.resolve(then({ isConfirmed: true, wasOurs: true }));
  }

  /** The holder was asked to stop within `grace` ms: the keys stay taken. */
  retire(grace: number): void {
    const ms = grace + RETIRE_MARGIN;
    const { granted } = this.#held;
    if (granted.retire)
      void this.#confirmed(() => granted.retire!(ms), () => undefined); // prettier-ignore
    else void this.after(ms, () => undefined);
  }

  /** By the monotonic clock: one of our timers may be early by it. */
  #freeAt(moment: number): void {
    const { clock } = this.#held.context;
    const rest = moment - monotonicTime(clock);
    if (rest <= 0) void this.now(() => undefined);
    else clock.schedule(rest, () => this.#freeAt(moment), true);
  }

  /** An answer that is no lease could mean anything: this lease goes back, too. */
  async #checked(handedOff: Promise<Lease | undefined>): Promise<Lease | undefined> {
    const lease = await handedOff;
    try {
      checkAttempt(lease);
      return lease;
    } catch (error) {
      giveBack(this.#held.granted);
      throw error;
    }
  }

  #confirmed<Result>(give: () => Promise<boolean>, then: Then<Result>): Promise<Result> {
    const { context, options } = this.#held;
    return context.calls.make<boolean, Result>({
      ask: give,
      within: options.storeTimeout,
      check: checkBoolean,
      read: (wasOurs) => then({ isConfirmed: true, wasOurs }),
      recover: (error) => then({ isConfirmed: false, error: withoutSecrets(error) }),
    });
  }
}
