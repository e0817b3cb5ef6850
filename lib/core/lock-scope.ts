import { AsyncLocalStorage } from 'node:async_hooks';
import type { HeldLease } from './held-lease.js';
import { LockDeadlockError, LockLostError, LockPermitsError } from './lock-errors.js';
import { keyNames } from './lock-keys.js';
import { Lock } from './lock.js';

/** A lock, and how many scopes use it. The last one to leave releases it. */
interface Holding {
  readonly lock: Lock;
  readonly held: HeldLease;
  uses: number;
}

/** What an async context holds, inside what the contexts around it hold. A lock that is re-entered is there twice. */
interface Frame {
  readonly holding: Holding;
  readonly outer: Frame | undefined;
}

/** Which locks the running async context holds. Ownership follows the work, not the thread or the caller. */
export class LockContext {
  readonly #storage = new AsyncLocalStorage<Frame>();

  /** The innermost lock that is still held, or that of `key`. A context that outlives its lock owns nothing. */
  current(key?: string): Lock | undefined {
    return this.#find(({ lock }) => key === undefined || lock.keys.includes(key))?.lock;
  }

  /** Opens a scope for a new lock. */
  open(held: HeldLease): LockScope {
    return this.#scope({ lock: new Lock(held), held, uses: 0 });
  }

  /**
   * Re-enters a lock that this context holds for all of `keys`. Throws `LockDeadlockError` when it holds some of them only, or
   * only shares what is wanted alone, and `LockPermitsError` when it shares them with others than wanted.
   */
  reenter(keys: readonly string[], permits: number | undefined): LockScope | undefined {
    if (!this.#storage.getStore()) return undefined;
    const holding = this.#find(({ lock }) => keys.every((key) => lock.keys.includes(key)));
    if (!holding) {
      this.refuseOwn(keys);
      return undefined;
    }
    checkMode(holding.lock, keys, permits);
    return this.#scope(holding);
  }

  /** A context that waits for a key which it holds itself would wait for ever. */
  refuseOwn(keys: readonly string[]): void {
    if (!this.#storage.getStore()) return;
    const own = keys.find((key) => this.current(key));
    if (own === undefined) return;
    throw new LockDeadlockError(
      `Lock "${keyNames(keys)}" would wait for itself: the calling context already holds "${own}". ` +
        'withLock and @DistributedLock re-enter a lock when they ask for no keys beyond its own',
      keyNames(keys),
    );
  }

  #scope(holding: Holding): LockScope {
    holding.uses++;
    const outer = this.#frame(); // not the frames of locks that have ended: work that starts work would pile them up
    const frame = outer?.holding === holding ? outer : { holding, outer };
    return new LockScope(frame, this.#storage);
  }

  #find(isMeant: (holding: Holding) => boolean): Holding | undefined {
    return this.#frame(isMeant)?.holding;
  }

  /** The innermost frame of a lock that is held, and meant. */
  #frame(isMeant: (holding: Holding) => boolean = () => true): Frame | undefined {
    let frame = this.#storage.getStore();
    while (frame && !(isMeant(frame.holding) && frame.holding.held.isHeld)) frame = frame.outer;
    return frame;
  }
}

/** Who has a key alone may do what sharers may. */
function checkMode(held: Lock, keys: readonly string[], permits: number | undefined): void {
  const inUse = held.permits;
  if (inUse === undefined || inUse === permits) return;
  if (permits !== undefined) throw new LockPermitsError(keyNames(keys), permits, inUse);
  const key = keyNames(keys);
  const message =
    inUse === Infinity
      ? `Lock "${key}" cannot be upgraded: the calling context shares it, and would wait for itself to leave. ` +
        'Take the write lock first, and downgrade it'
      : `Lock "${key}" would wait for itself: the calling context has a permit of it. Leave the permit first`;
  throw new LockDeadlockError(message, key);
}

/**
 * The stretch of work that one call runs under a lock. `hold` serves a promise; streams, which are entered again for each
 * element, use `run`, `leave` and `assertKept`.
 */
export class LockScope {
  readonly lock: Lock;
  readonly #frame: Frame;
  readonly #storage: AsyncLocalStorage<Frame>;
  #hasLeft = false;

  constructor(frame: Frame, storage: AsyncLocalStorage<Frame>) {
    this.lock = frame.holding.lock;
    this.#frame = frame;
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
    return this.#storage.run(this.#frame, step);
  }

  /** Never rejects. Safe to call twice. Resolves as `Lock.release` does, and `true` while other scopes use the lock. */
  leave(): Promise<boolean> {
    const { holding } = this.#frame;
    if (!this.#hasLeft) holding.uses--;
    this.#hasLeft = true;
    return holding.uses > 0 ? Promise.resolve(true) : this.lock.release();
  }

  /** Throws a `LockLostError` that carries `result`: work whose lock was lost does not look successful. */
  assertKept(result: unknown): void {
    const loss = this.#frame.holding.held.lostError;
    if (loss) throw new LockLostError(loss.key, loss.reason, { cause: loss, result });
  }
}
