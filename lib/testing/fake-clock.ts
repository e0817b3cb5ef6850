import type { Cancel, Clock } from '../core/clock.js';

interface FakeTimer {
  readonly due: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is told to move: `await clock.advance(30_000)`. */
export class FakeClock implements Clock {
  #now: number;
  readonly #timers = new Set<FakeTimer>();

  constructor(start = 0) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  /** Timers that have neither run nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  schedule(ms: number, callback: () => void): Cancel {
    const timer = { due: this.#now + Math.max(0, ms), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Moves on by `ms`, running what falls due in order, each after the promises that the ones before it set off. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await settle();
    for (let next = this.#next(target); next; next = this.#next(target)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.callback();
      await settle();
    }
    this.#now = target;
    await settle();
  }

  /** Moves on by `ms` at once, as for a process that was stopped or blocked: timers run late, at the next `advance`. */
  jump(ms: number): void {
    this.#now += ms;
  }

  #next(until: number): FakeTimer | undefined {
    let first: FakeTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.due <= until && (!first || timer.due < first.due)) first = timer;
    }
    return first;
  }
}

/** Lets all promises that can settle without time or I/O do so. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
