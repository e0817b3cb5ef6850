import { AsyncLocalStorage } from 'node:async_hooks';
import type { HeldLease } from './held-lease.js';
import { LockDeadlockError, LockLostError } from './lock-errors.js';
import { keyNames } from './lock-keys.js';
import { Lock } from './lock.js';

/** One lock that an async context holds, inside those that the contexts around it hold. */
interface Holding {
  readonly lock: Lock;
  readonly held: HeldLease;
  readonly outer: Holding | undefined;
  /** Scopes that use the lock. The last one to leave releases it. */
  uses: number;
}

/** Which locks the running async context holds. Ownership follows the work, not the thread or the caller. */
export class LockContext {
  readonly #storage = new AsyncLocalStorage<Holding>();

  /** The innermost lock that is still held, or that of `key`. A context that outlives its lock owns nothing. */
  current(key?: string): Lock | undefined {
    return this.#find((holding) => key === undefined || holding.lock.keys.includes(key))?.lock;
  }

  /** Opens a scope for a new lock. */
  open(held: HeldLease): LockScope {
    const outer = this.#storage.getStore();
    return new LockScope({ lock: new Lock(held), held, outer, uses: 1 }, this.#storage);
  }

  /** Re-enters a lock that this context holds for all of `keys`. Throws `LockDeadlockError` when it holds some of them only. */
  reenter(keys: readonly string[]): LockScope | undefined {
    const holding = this.#find(({ lock }) => keys.every((key) => lock.keys.includes(key)));
    if (!holding) {
      this.refuseOwn(keys);
      return undefined;
    }
    holding.uses++;
    return new LockScope(holding, this.#storage);
  }

  /** A context that waits for a key which it holds itself would wait for ever. */
  refuseOwn(keys: readonly string[]): void {
    const own = keys.find((key) => this.current(key));
    if (own === undefined) return;
    throw new LockDeadlockError(
      `Lock "${keyNames(keys)}" would wait for itself: the calling context already holds "${own}". ` +
        'withLock and @DistributedLock re-enter a lock when they ask for no keys beyond its own',
      keyNames(keys),
    );
  }

  #find(isMeant: (holding: Holding) => boolean): Holding | undefined {
    let holding = this.#storage.getStore();
    while (holding && !(isMeant(holding) && holding.held.isHeld)) holding = holding.outer;
    return holding;
  }
}

/**
 * The stretch of work that one call runs under a lock. `hold` serves a promise; streams, which are entered again for each
 * element, use `run`, `leave` and `assertKept`.
 */
export class LockScope {
  readonly lock: Lock;
  readonly #holding: Holding;
  readonly #storage: AsyncLocalStorage<Holding>;
  #hasLeft = false;

  constructor(holding: Holding, storage: AsyncLocalStorage<Holding>) {
    this.lock = holding.lock;
    this.#holding = holding;
    this.#storage = storage;
  }

  /** Runs `work` under the lock, releases it however `work` ends, and rejects when the lock was lost on the way. */
  async hold<T>(work: (lock: Lock) => T | Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await this.run(() => work(this.lock));
    } finally {
      await this.leave();
    }
    this.assertKept(result);
    return result;
  }

  /** Calls `step` in the context that holds the lock. */
  run<T>(step: () => T): T {
    return this.#storage.run(this.#holding, step);
  }

  /** Never rejects. Safe to call twice. */
  async leave(): Promise<void> {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    if (--this.#holding.uses === 0) await this.lock.release();
  }

  /** Throws a `LockLostError` that carries `result`: work whose lock was lost does not look successful. */
  assertKept(result: unknown): void {
    const loss = this.#holding.held.lostError;
    if (loss) throw new LockLostError(loss.key, loss.reason, { cause: loss, result });
  }
}
