import { AsyncLocalStorage } from 'node:async_hooks';
import type { LockError } from '../contract/lock-errors.js';
import type { AroundWork } from '../events/tracing.js';
import type { LockEvents } from '../events/lock-events.js';
import type { HeldLease } from '../lease/held-lease.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import { Lock } from './lock.js';
import { LockScope } from './lock-scope.js';
import type { Frame } from './lock-scope.js';
import { missingKeys, unshareable } from './unshareable.js';
import { isShared } from '../sharing/hold-mode.js';

/** The locks of the running async context. Ownership follows the work, not the thread or the caller. */
export class LockContext {
  readonly #events: LockEvents;
  readonly #around: AroundWork | undefined;
  /** Empty outside of every lock. */
  readonly storage = new AsyncLocalStorage<Frame | undefined>();

  /** `around` is called around the work under each lock. */
  constructor(events: LockEvents, around?: AroundWork) {
    this.#events = events;
    this.#around = around;
  }

  /** The innermost lock that is still held, or that of `key`. A context that outlives its lock owns nothing. */
  current(key?: string): Lock | undefined {
    const isMeant = ({ lock }: Frame) => key === undefined || lock.keys.includes(key);
    return find(this.storage.getStore(), isMeant)?.lock;
  }

  /** Whether this context holds a lock. */
  get isInside(): boolean {
    const frame = this.storage.getStore();
    return frame !== undefined && innermost(frame) !== undefined;
  }

  /** Calls `work` in a context that holds nothing. */
  outside<T>(work: () => T): T {
    return this.storage.run(undefined, work);
  }

  /** Once nothing is held any more. Before Node 24, each promise of the process visits every storage that was not disabled. */
  close(): void {
    this.storage.disable();
  }

  /** Opens a scope for a new lock. */
  open(held: HeldLease): LockScope {
    return this.#scope(held, new Lock(held), held.traceWork(this.#around));
  }

  /** Shares a lock that this context holds for all of `keys`. */
  reenter(
    keys: readonly string[],
    { permits, name }: Pick<ResolvedLockOptions, 'permits' | 'name'>,
  ): LockScope | undefined {
    const frame = find(this.storage.getStore(), holdsAll(keys));
    if (!frame || !mayShare(frame.lock, permits)) return undefined;
    const { held } = frame;
    const lock = new Lock(held, keys, name);
    const scope = this.#scope(held, lock);
    this.#events.publish('reentered', () => {
      return { ...held.event(), key: keys[0]!, keys, name: lock.name };
    });
    return scope;
  }

  /**
   * For a call that could not re-enter: a `LockDeadlockError` when this context holds only some of `keys`, or shares a lock that
   * the call wants exclusively, and a `LockPermitsError` when it shares them with other permits.
   */
  refusalOf(keys: readonly string[], permits: number | undefined): LockError | undefined {
    const own = this.holderOf(keys)?.();
    if (!own) return undefined;
    return holdsAll(keys)({ lock: own }) ? unshareable(own, keys, permits) : missingKeys(own, keys);
  }

  /**
   * Returns a function that gives, now and later, the lock by which this context holds one of `keys`. Missing when it holds none
   * of them now.
   */
  holderOf(keys: readonly string[]): (() => Lock | undefined) | undefined {
    const frame = this.storage.getStore();
    if (!frame) return undefined;
    const isMeant = ({ held }: Frame) => keys.some((key) => held.keys.includes(key));
    const holder = () => find(frame, isMeant)?.lock;
    return holder() && holder;
  }

  /** Drops frames of ended locks: work that starts work would accumulate them. */
  #scope(held: HeldLease, lock: Lock, around?: AroundWork): LockScope {
    const outer = innermost(this.storage.getStore());
    if (outer) outer.outer = innermost(outer.outer);
    return new LockScope({ lock, held, around, outer }, this.storage);
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
  return !isShared(permits) || permits === wanted;
}
