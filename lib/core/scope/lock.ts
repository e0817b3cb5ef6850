import type { HeldLease } from '../lease/held-lease.js';
import { LockLostError, LockUnsupportedError } from '../contract/lock-errors.js';
import type { LockState } from '../events/hold-events.js';
import { keyNames } from '../keys/lock-keys.js';
import { checkTtl } from '../options/lock-options.js';
import type { LockMode } from '../options/lock-options.js';
import { quoted } from '../text/printable.js';
import { isReader, isShared } from '../sharing/hold-mode.js';

/**
 * A held lock. No such object exists for a lock that is not held. A nested call has its own, for the same lease: its release
 * leaves the lock to the calls around it.
 */
export class Lock implements AsyncDisposable {
  readonly #held: HeldLease;
  /** The keys of a nested call. Missing for the call that took the lock. */
  readonly #nestedKeys: readonly string[] | undefined;
  readonly #nestedName: string | undefined;
  #isReleased = false;
  /** The state of the lease when a call left it to others. */
  #leftAs: 'lost' | 'released' | undefined;

  /** Locks come from `LockService`. */
  constructor(held: HeldLease, nestedKeys?: readonly string[], nestedName?: string) {
    this.#held = held;
    this.#nestedKeys = nestedKeys;
    this.#nestedName = nestedName;
    held.uses++;
  }

  /** The key; of several, the first in canonical order. */
  get key(): string {
    return this.keys[0]!;
  }

  /** All keys, without duplicates, in canonical order; of a nested call, its own. */
  get keys(): readonly string[] {
    return this.#nestedKeys ?? this.#held.keys;
  }

  /** `LockOptions.name`; of a nested call without one, that of the lock. */
  get name(): string | undefined {
    return this.#nestedName ?? this.#held.options.name;
  }

  /**
   * Larger than that of every earlier grant of the key. Hand it to the resource you write to, and let it refuse smaller ones.
   * Throws `LockUnsupportedError` where the store has none (`supports.fencing`), and for read locks and permits, which are no
   * protection against each other's writes.
   */
  get fencingToken(): bigint {
    const { fencingToken, context } = this.#held;
    if (fencingToken !== undefined && !isShared(this.permits)) return fencingToken;
    throw withoutFencingToken(keyNames(this.keys), context.store.name, this.permits);
  }

  /** `'read'` when it is shared with other readers, or was downgraded. */
  get mode(): LockMode {
    return isReader(this.#held.permits) ? 'read' : 'write';
  }

  /** Maximum number of holders at the same time: missing for a write lock, `Infinity` for a read lock. */
  get permits(): number | undefined {
    return this.#held.permits;
  }

  get state(): LockState {
    return this.#leftAs ?? this.#held.state;
  }

  /** Measured, not remembered: right also after the event loop was blocked. */
  get isHeld(): boolean {
    return !this.#isReleased && this.#held.isHeld;
  }

  /** Milliseconds that the lock may still be relied on without another extension; `0` when it is not held. */
  get remaining(): number {
    return this.isHeld ? this.#held.remaining : 0;
  }

  /**
   * Aborts with a `LockLostError` when the lock stops being ours, no later than the key can expire. An ordinary release
   * does not abort it. Pass it to `fetch` and to everything else that can be stopped.
   */
  get signal(): AbortSignal {
    return this.#held.lossSignal;
  }

  /** Throws `LockLostError` when the lock is not held. Call it right before a write that must not be late. */
  assertHeld(): void {
    if (this.#leftAs === 'released') throw new LockLostError(keyNames(this.keys), 'released');
    this.#held.assertHeld();
  }

  /**
   * Sets the time to live to `ttl` ms from now, for this and the automatic extensions after it.
   * Rejects with `LockLostError` when the lock is no longer ours, with `LockStoreError` when the store failed; it is then
   * still held for `remaining`. A nested call gets `LockUnsupportedError`.
   */
  async extend(ttl: number): Promise<void> {
    checkTtl(ttl);
    this.#checkMayChange('extended');
    await this.#held.extend(ttl);
  }

  /**
   * Makes a read lock of a write lock, without a gap in which the key is free: readers come in, writers wait. `mode` is `'read'`
   * from the call on. Rejects with `LockUnsupportedError` where the store cannot, in a nested call and while nested calls run,
   * with `LockLostError` when the lock is no longer ours, with `LockStoreError` when the store failed: the lock is then still
   * held, at least as a reader, and the call may be repeated.
   */
  async downgrade(): Promise<void> {
    if (this.mode === 'write') {
      this.#checkMayChange('downgraded');
      if (this.#held.uses > 1) {
        throw this.#unchangeable('downgraded', 'while nested calls are at work');
      }
    }
    await this.#held.downgrade();
  }

  /**
   * Frees the key; a call that is nested, or has nested calls at work, leaves the lock to the others, and the last one to
   * leave frees the key. Safe to call twice, never rejects. Resolves `false` when the lock had been lost, or when the store did
   * not confirm it (event `releaseFailed`): the ttl then frees the key.
   */
  release(): Promise<boolean> {
    if (!this.#isReleased) {
      this.#isReleased = true;
      this.#held.uses--;
      if (this.#held.uses > 0) this.#leftAs = this.#held.isHeld ? 'released' : 'lost';
    }
    return this.#leftAs ? Promise.resolve(this.#leftAs === 'released') : this.#held.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** A change of the lease affects every call that uses it. */
  #checkMayChange(what: string): void {
    this.assertHeld();
    if (this.#nestedKeys)
      throw this.#unchangeable(what, 'by a nested call, only by the call that took it');
  }

  #unchangeable(what: string, when: string): LockUnsupportedError {
    const key = keyNames(this.keys);
    return new LockUnsupportedError(
      key,
      this.#held.context.store.name,
      `Lock ${quoted(key)} cannot be ${what} ${when}`,
    );
  }
}

function withoutFencingToken(
  keys: string,
  store: string,
  permits: number | undefined,
): LockUnsupportedError {
  if (!isShared(permits)) {
    const message = `Lock store "${store}" has no fencing tokens (key ${quoted(keys)})`;
    return new LockUnsupportedError(keys, store, message);
  }
  const why = isReader(permits)
    ? 'it is a read lock. What writes takes the write lock'
    : 'it is a permit of a semaphore';
  return new LockUnsupportedError(keys, store, `Lock ${quoted(keys)} has no fencing token: ${why}`);
}
