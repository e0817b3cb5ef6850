import { systemClock } from '../../core/async/clock.js';
import type { Cancel } from '../../core/async/clock.js';
import type { LockLostError } from '../../core/contract/lock-errors.js';
import type { StoreNotice } from '../../core/contract/lock-store.js';
import type { Lock } from '../../core/scope/lock.js';

/** The process group that the guard ends. */
export interface Guarded {
  /** SIGTERM, once. */
  tell(): void;
  /** SIGKILL to all of it. May be called again. */
  kill(): void;
  /** The watchdog has to kill it in `ms`, unless it hears of more time. */
  within(ms: number): void;
}

/** All in milliseconds. */
export interface GuardTimes {
  /** From SIGTERM to SIGKILL. */
  readonly killAfter: number;
  /** From SIGKILL to the moment at which the key can expire. */
  readonly margin: number;
  /** Between two looks at the lock. */
  readonly lookEvery: number;
  /** For a store without ttls: for how long its session is sure to live when we can do nothing for it. */
  readonly session: number | undefined;
}

/** Ends a command before its lock can: tells it once the rest is `killAfter`, and kills it before the key can expire. */
export class LockGuard {
  readonly #lock: Lock;
  readonly #guarded: Guarded;
  readonly #times: GuardTimes;
  /** By the clock: when the lock was last known to end, and when an eviction takes it. */
  #validUntil = 0;
  #evictedAt: number | undefined;
  #cancel: Cancel = () => {};
  #isTold = false;

  constructor(lock: Lock, guarded: Guarded, times: GuardTimes) {
    this.#lock = lock;
    this.#guarded = guarded;
    this.#times = times;
    // The store may tell the grace of an eviction right after the loss.
    lock.signal.addEventListener('abort', () => queueMicrotask(this.#look));
    this.#look();
  }

  /** To be called with the notices of the store. */
  heard(notice: StoreNotice): void {
    if (notice.type !== 'revoked' || notice.key !== this.#lock.key) return;
    this.#evictedAt = Math.min(this.#evictedAt ?? Infinity, systemClock.now() + notice.grace);
  }

  close(): void {
    this.#cancel();
    this.#look = () => {};
  }

  #look = (): void => {
    this.#cancel();
    const { killAfter, margin, lookEvery } = this.#times;
    const left = this.#left();
    const isEvicted = this.#evictedAt !== undefined;
    if (left <= margin) this.#guarded.kill();
    else if (left <= killAfter || isEvicted) this.#tell();
    this.#guarded.within(left - margin / 2);
    const next = left - (this.#isTold ? margin : killAfter);
    this.#cancel = systemClock.schedule(Math.min(Math.max(next, 1), lookEvery), () => this.#look());
  };

  #tell(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#guarded.tell();
  }

  /** Milliseconds for which the key is ours. */
  #left(): number {
    const now = systemClock.now();
    if (this.#lock.isHeld) {
      this.#validUntil = now + (this.#times.session ?? this.#lock.remaining);
      return this.#validUntil - now;
    }
    const isRevoked = (this.#lock.signal.reason as LockLostError | undefined)?.reason === 'revoked';
    if (!isRevoked) return 0;
    this.#evictedAt ??= now + this.#times.killAfter;
    return Math.min(this.#evictedAt, this.#validUntil) - now;
  }
}
