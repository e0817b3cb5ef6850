import { timeOfDay } from '../../core/async/clock.js';
import type { Lease, LockPage, LockStore } from '../../core/contract/lock-store.js';

/** Grants every key to every caller, for `enabled: false`: keys are still checked, work still gets its `Lock`. */
export class DisabledLockStore implements LockStore {
  readonly name = 'disabled';
  readonly supports = {
    fencing: true,
    ttl: false,
    manyKeys: true,
    readLocks: true,
    semaphores: true,
    exclusive: false,
  } as const;
  #lastFencingToken = 0n;

  async tryAcquire(): Promise<Lease> {
    return {
      fencingToken: this.#mint(),
      extend: async () => true,
      release: async () => true,
      downgrade: async () => true,
    };
  }

  async inspect(): Promise<undefined> {
    return undefined;
  }

  async list(): Promise<LockPage> {
    return { locks: [] };
  }

  /** At least the time of day in microseconds, as on Redis and SQL: a resource may have seen tokens of theirs. */
  #mint(): bigint {
    const now = BigInt(Math.floor(timeOfDay() * 1_000));
    const next = this.#lastFencingToken + 1n;
    this.#lastFencingToken = next > now ? next : now;
    return this.#lastFencingToken;
  }
}
