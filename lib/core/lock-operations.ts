import type { PendingAcquisitionsContext } from './acquire/acquisition-context.js';
import type { PendingAcquisitions } from './acquire/pending-acquisitions.js';
import { drainLocks } from './drain/drain-locks.js';
import type { LockDrainOptions } from './drain/drain-options.js';
import { evictHolder } from './evict/evict-holder.js';
import type { LockEviction } from './evict/evict-holder.js';
import type { LockEvictOptions } from './evict/evict-options.js';
import type { HeldLock } from './inspection/held-locks.js';
import { canonicalKeys } from './keys/lock-keys.js';
import { LockReports } from './lock-reports.js';

/** The interventions of an operator. Each publishes the event `audit`. */
export abstract class LockOperations extends LockReports {
  readonly #context: PendingAcquisitionsContext;
  readonly #acquisitions: PendingAcquisitions;
  readonly #storeTimeout: number;

  constructor(
    context: PendingAcquisitionsContext,
    acquisitions: PendingAcquisitions,
    storeTimeout: number,
  ) {
    super(context, acquisitions, storeTimeout);
    this.#context = context;
    this.#acquisitions = acquisitions;
    this.#storeTimeout = storeTimeout;
  }

  /**
   * Takes a key from its holder by hand: asks it to stop, waits for `grace`, then takes the key and hands it to the next waiter.
   * Event `audit`. Resolves with `evicted: false` when the named holder has it no more. Rejects with `LockUnsupportedError` where
   * the store cannot, and for read locks and permits; with `LockStoreError` when the outcome is unknown.
   */
  async evict(key: string, options: LockEvictOptions): Promise<LockEviction> {
    return evictHolder(this.#context, canonicalKeys(key)[0]!, options, this.#storeTimeout);
  }

  /**
   * Takes on no new work, lets the held locks end, and resolves with those that are left after `within`; `[]`: none. From the call
   * on, calls are refused and waits end with `LockDrainingError`; not so calls in the async context of a held lock, which its
   * work may need to end. Cannot be undone. Sends no command, and takes back no lock: `close` does. Safe to call twice.
   * Event `audit`, by the first call. Rejects with the reason of `signal`, and with `TypeError` or `RangeError` naming the option.
   */
  async drain(options: LockDrainOptions = {}): Promise<HeldLock[]> {
    await drainLocks(this.#context, this.#acquisitions, options);
    return this.held();
  }
}
