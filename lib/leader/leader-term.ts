import { inRootContext } from '../core/async/root-context.js';
import { LockLostError } from '../core/contract/lock-errors.js';
import type { Lock } from '../core/scope/lock.js';

/** The time in which this process leads: from its election until it resigns, or loses the lock. */
export class LeaderTerm {
  readonly #lock: Lock;
  readonly #end = new AbortController();
  /** Resolves, with what `signal` aborts with, when the term is over. */
  readonly over: Promise<LockLostError>;

  /** Terms come from `LeaderElection`. */
  constructor(lock: Lock) {
    this.#lock = lock;
    const end = this.#end.signal;
    this.over = new Promise((resolve) => {
      end.addEventListener('abort', () => resolve(end.reason as LockLostError), { once: true });
    });
    const { signal } = lock;
    signal.addEventListener('abort', () => this.#end.abort(signal.reason), { once: true });
    if (signal.aborted) this.#end.abort(signal.reason);
  }

  /** Key of the lock: `leader:<name>`. A fencing guard takes the term as it takes a `Lock`. */
  get key(): string {
    return this.#lock.key;
  }

  /** Larger than that of every term before. Throws `LockUnsupportedError` where the store has none. */
  get fencingToken(): bigint {
    return this.#lock.fencingToken;
  }

  /** Measured, not remembered: right also after the event loop was blocked. `false` as soon as the term is to end. */
  get isLeader(): boolean {
    return this.#lock.isHeld && !this.#end.signal.aborted;
  }

  /**
   * Aborts with a `LockLostError` when the term is over: reason `released` after a resignation, before the lock is given
   * back; otherwise no later than another process can lead.
   */
  get signal(): AbortSignal {
    void this.#lock.isHeld; // a lock that has expired unnoticed ends the term now
    return this.#end.signal;
  }

  /** Throws `LockLostError` when the lock is not held. Call it right before a write that must not be late. */
  assertHeld(): void {
    this.#lock.assertHeld();
  }

  /** Ends the term: the signal aborts, then the election gives the lock back. Safe to call twice. */
  resign(): void {
    inRootContext(() => this.#end.abort(new LockLostError(this.key, 'released')));
  }
}
