import { inRootContext } from './async/root-context.js';
import { monotonicTime } from './clock.js';
import { withoutSecrets } from './contract/safe-error.js';
import { checkBoolean } from './contract/store-answers.js';
import { checkAttempt, giveBack } from './grant.js';
import type { LeaseLife } from './lease-life.js';
import type { Lease } from './lock-store.js';

/** Whether the store answered, and if it did, whether the key was still ours until then. */
export type Returned =
  | { readonly isConfirmed: true; readonly wasOurs: boolean }
  | { readonly isConfirmed: false; readonly error: unknown };

/**
 * What an answer tells of a lease that was held when it was given back, with `remaining` ms of validity: after that, a key
 * that is gone may have been freed by its ttl.
 */
export function unlessLate(returned: Returned, remaining: number): Returned {
  if (remaining > 0 || !returned.isConfirmed || returned.wasOurs) return returned;
  const error = new Error('the answer came after the ttl, which may have freed the key');
  return { isConfirmed: false, error };
}

type Then<Result> = (returned: Returned) => Result;

/** The way of a lease back to its store. Nothing here rejects: what a failing store keeps is freed by its ttl. */
export class LeaseReturn {
  readonly #held: LeaseLife;

  constructor(held: LeaseLife) {
    this.#held = held;
  }

  /** Frees the key. `isValid`: whether it cannot have ended by its ttl. */
  now<Result>(then: Then<Result>, isValid?: () => boolean): Promise<Result> {
    return this.#confirmed(() => this.#held.granted.release(isValid), then);
  }

  /** The store has been asked to pass the lease on. */
  passed<Result>(lease: Promise<Lease | undefined>, then: Then<Result>): Promise<Result> {
    return this.#confirmed(async () => (await this.#checked(lease)) !== undefined, then);
  }

  /** Leaves the key in the store for `rest` more milliseconds. */
  after<Result>(rest: number, then: Then<Result>): Promise<Result> {
    const { granted, around } = this.#held;
    if (rest < 1) return this.now(then, () => this.#held.remaining > 0);
    if (around.store.supports.ttl)
      return this.#confirmed(() => granted.extend(Math.ceil(rest)), then);
    // A key that lives as long as its session has to be freed by hand; when the process ends first, the session does too.
    const moment = monotonicTime(around.clock) + rest;
    inRootContext(() => this.#freeAt(moment));
    return Promise.resolve(then({ isConfirmed: true, wasOurs: true }));
  }

  /** By the monotonic clock: a timer of ours may be early by it. */
  #freeAt(moment: number): void {
    const { clock } = this.#held.around;
    const rest = moment - monotonicTime(clock);
    if (rest <= 0) void this.now(() => undefined);
    else clock.schedule(rest, () => this.#freeAt(moment), true);
  }

  /** What is no lease may stand for any: this one goes back, too. */
  async #checked(passed: Promise<Lease | undefined>): Promise<Lease | undefined> {
    const lease = await passed;
    try {
      checkAttempt(lease);
      return lease;
    } catch (error) {
      giveBack(this.#held.granted);
      throw error;
    }
  }

  #confirmed<Result>(give: () => Promise<boolean>, then: Then<Result>): Promise<Result> {
    const { around, options } = this.#held;
    return around.calls.make<boolean, Result>({
      ask: give,
      within: options.storeTimeout,
      check: checkBoolean,
      read: (wasOurs) => then({ isConfirmed: true, wasOurs }),
      recover: (error) => then({ isConfirmed: false, error: withoutSecrets(error) }),
    });
  }
}
