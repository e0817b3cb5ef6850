import { AsyncResource } from 'node:async_hooks';
import type { Cancel, Clock } from '../core/async/clock.js';
import { later } from './later.js';

interface FakeTimer {
  readonly due: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is told to move: `await clock.advance(30_000)`. */
export class FakeClock implements Clock {
  #now: number;
  /** Milliseconds that the monotonic clock has missed. */
  #suspended = 0;
  readonly #timers = new Set<FakeTimer>();

  constructor(start = 0) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now - this.#suspended;
  }

  /** Timers that have neither run nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  schedule(ms: number, callback: () => void): Cancel {
    const timer = { due: this.#now + Math.max(0, ms), callback: AsyncResource.bind(callback) };
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

  /**
   * As `jump`, for a machine that was suspended, such as a laptop or a virtual machine that is moved, or whose time of day was
   * set forward: the monotonic clock stands still, and the time counts all the same.
   */
  suspend(ms: number): void {
    this.#now += ms;
    this.#suspended += ms;
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
  return new Promise((resolve) => later(resolve));
}
