import { systemClock } from '../../../core/async/clock.js';

/** Below this many, nothing needs to be swept. */
const SWEEP_FROM = 1_000;

/** A process's use of a lock: milliseconds held, and the end of the last hold. */
interface Share {
  readonly held: number;
  readonly endedAt: number;
}

/**
 * Time that the holders of this process have had their locks, since each was left free last. Every process counts its own, so
 * that together they leave a lock free as often as a single one would.
 */
export class Shares {
  #every: number;
  readonly #byLock = new Map<string, Share>();
  #sweepAt = SWEEP_FROM;

  /** `every`: milliseconds that a process may have a lock until it is to leave it free. */
  constructor(every: number) {
    this.#every = every;
  }

  /** No lock is left free any more. */
  stop(): void {
    this.#every = Infinity;
  }

  /** When a lock that this process has held since `since` is to be left free. */
  dueAt(lock: string, since: number): number {
    const share = this.#byLock.get(lock);
    const held = share && since - share.endedAt < this.#every ? share.held : 0;
    return since + this.#every - held;
  }

  /** A hold ends. Returns whether the lock is to be left free; if not, the next hold goes on counting towards `dueAt`. */
  end(lock: string, dueAt: number): boolean {
    if (dueAt === Infinity) return false;
    const now = systemClock.now();
    const isDue = now >= dueAt;
    if (isDue) this.#byLock.delete(lock);
    else this.#keep(lock, { held: this.#every - (dueAt - now), endedAt: now });
    return isDue;
  }

  #keep(lock: string, share: Share): void {
    if (this.#byLock.size >= this.#sweepAt) this.#sweep(share.endedAt);
    this.#byLock.set(lock, share);
  }

  #sweep(now: number): void {
    for (const [lock, { endedAt }] of this.#byLock)
      if (now - endedAt >= this.#every) this.#byLock.delete(lock);
    this.#sweepAt = Math.max(SWEEP_FROM, 2 * this.#byLock.size);
  }
}
