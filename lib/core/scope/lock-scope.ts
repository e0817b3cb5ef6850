import { AsyncLocalStorage } from 'node:async_hooks';
import type { HeldLease } from '../lease/held-lease.js';
import { LockLostError } from '../contract/lock-errors.js';
import type { LockEvents } from '../contract/lock-events.js';
import { Lock } from './lock.js';
import { missingKeys, unshareable } from './unshareable.js';

/** What an async context holds by one call, inside its outer contexts. */
interface Frame {
  readonly lock: Lock;
  readonly held: HeldLease;
  outer: Frame | undefined;
}

/** The locks of the running async context. Ownership follows the work, not the thread or the caller. */
export class LockContext {
  readonly #events: LockEvents;
  readonly #storage = new AsyncLocalStorage<Frame | undefined>();

  constructor(events: LockEvents) {
    this.#events = events;
  }

  /** The innermost lock that is still held, or that of `key`. A context that outlives its lock owns nothing. */
  current(key?: string): Lock | undefined {
    const isMeant = ({ lock }: Frame) => key === undefined || lock.keys.includes(key);
    return find(this.#storage.getStore(), isMeant)?.lock;
  }

  /** Calls `work` in a context that holds nothing. */
  outside<T>(work: () => T): T {
    return this.#storage.run(undefined, work);
  }

  /** Once nothing is held any more. Before Node 24, each promise of the process visits every storage that was not disabled. */
  close(): void {
    this.#storage.disable();
  }

  /** Opens a scope for a new lock. */
  open(held: HeldLease): LockScope {
    return this.#scope(held, new Lock(held));
  }

  /** Shares a lock that this context holds for all of `keys`. */
  reenter(keys: readonly string[], permits: number | undefined): LockScope | undefined {
    const frame = find(this.#storage.getStore(), holdsAll(keys));
    if (!frame || !mayShare(frame.lock, permits)) return undefined;
    const { held } = frame;
    const scope = this.#scope(held, new Lock(held, keys));
    this.#events.publish('reentered', () => ({ ...held.event(), key: keys[0]!, keys }));
    return scope;
  }

  /**
   * For a call that could not re-enter. Throws `LockDeadlockError` when this context holds only some of `keys`, or shares a lock
   * that the call wants exclusively, and `LockPermitsError` when it shares them with other permits.
   */
  refuseOwn(keys: readonly string[], permits: number | undefined): void {
    const own = this.holderOf(keys)?.();
    if (!own) return;
    throw holdsAll(keys)({ lock: own }) ? unshareable(own, keys, permits) : missingKeys(own, keys);
  }

  /**
   * Returns a function that gives, now and later, the lock by which this context holds one of `keys`. Missing when it holds none
   * of them now.
   */
  holderOf(keys: readonly string[]): (() => Lock | undefined) | undefined {
    const frame = this.#storage.getStore();
    if (!frame) return undefined;
    const isMeant = ({ held }: Frame) => keys.some((key) => held.keys.includes(key));
    const holder = () => find(frame, isMeant)?.lock;
    return holder() && holder;
  }

  /** Drops frames of ended locks: work that starts work would accumulate them. */
  #scope(held: HeldLease, lock: Lock): LockScope {
    const outer = innermost(this.#storage.getStore());
    if (outer) outer.outer = innermost(outer.outer);
    return new LockScope({ lock, held, outer }, this.#storage);
  }
}

/** The first matching frame, from `frame` outwards. */
function find(frame: Frame | undefined, isMeant: (frame: Frame) => boolean): Frame | undefined {
  let found = innermost(frame);
  while (found && !isMeant(found)) found = innermost(found.outer);
  return found;
}

/** The first frame whose lock is held, from `frame` outwards. */
function innermost(frame: Frame | undefined): Frame | undefined {
  let found = frame;
  while (found && !found.lock.isHeld) found = found.outer;
  return found;
}

function holdsAll(keys: readonly string[]): (frame: Pick<Frame, 'lock'>) => boolean {
  return ({ lock }) => keys.every((key) => lock.keys.includes(key));
}

/** An exclusive holder may also enter as a reader or permit holder. */
function mayShare({ permits }: Lock, wanted: number | undefined): boolean {
  return permits === undefined || permits === wanted;
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
