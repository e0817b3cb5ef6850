import type { AsyncLocalStorage } from 'node:async_hooks';
import type { AroundWork } from '../events/tracing.js';
import type { HeldLease } from '../lease/held-lease.js';
import { LockLostError } from '../contract/lock-errors.js';
import { checkBegun } from './begun-work.js';
import type { Lock } from './lock.js';

/** The lock that one call holds for an async context, and its outer contexts. */
export interface Frame {
  readonly lock: Lock;
  readonly held: HeldLease;
  /** Missing for a nested call: its work is part of that of the lock. */
  readonly around?: AroundWork | undefined;
  outer: Frame | undefined;
}

/**
 * The stretch of work that one call runs under a lock. `hold` serves a promise; streams, which are entered again for each
 * element, use `run`, `leave` and `assertKept`.
 */
export class LockScope {
  readonly lock: Lock;
  readonly #frame: Frame;
  readonly #storage: AsyncLocalStorage<Frame | undefined>;

  constructor(frame: Frame, storage: AsyncLocalStorage<Frame | undefined>) {
    this.lock = frame.lock;
    this.#frame = frame;
    this.#storage = storage;
  }

  /**
   * Runs `work` under the lock, releases it however `work` ends, and rejects when the lock was lost on the way. Rejects with
   * `TypeError` for a generator or an Observable, whose work has not begun.
   */
  async hold<T>(work: (lock: Lock) => T | Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await this.run(() => work(this.lock));
    } finally {
      await this.leave();
    }
    checkBegun(result);
    this.assertKept(result);
    return result;
  }

  /** Calls `step` in the context that holds the lock. */
  run<T>(step: () => T): T {
    const { around, held } = this.#frame;
    return this.#storage.run(this.#frame, around ? () => around(held.traced, step) : step);
  }

  /** As `Lock.release`. */
  leave(): Promise<boolean> {
    return this.lock.release();
  }

  /** Throws a `LockLostError` that carries `result`: work whose lock was lost does not look successful. */
  assertKept(result: unknown): void {
    const loss = this.lock.state === 'lost' && this.#frame.held.lostError;
    if (loss) throw new LockLostError(loss.key, loss.reason, { cause: loss, result });
  }
}
