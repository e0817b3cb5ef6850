import { inRootContext } from './root-context.js';
import { systemClock } from './clock.js';
import type { Cancel, Clock } from './clock.js';

/** Entries that run in one turn of the event loop: a hundred thousand may be due at once, and other work waits. */
const SLICE = 500;

/** Milliseconds that a timer of the system's clock is left to run: a lock's deadlines use that of the lock before (`bench/paced.mjs`). */
const LONGEST = 1_000;

/** One entry of a `TimerQueue`. An object with a deadline may be its own entry. */
export interface QueuedTimer {
  /** Belongs to the queue, as `index` does. */
  due: number;
  index: number;
  run(): void;
}

/** A timer without a time, for `TimerQueue.move`. */
export function idleTimer(run: () => void): QueuedTimer {
  return { due: Infinity, index: -1, run };
}

/**
 * Any number of due times behind one timer of the clock: a binary heap, so that ten thousand held locks cost one timeout
 * (`bench/renewal.mjs`). Callbacks must not throw. Entries due together run in slices. The timer never keeps the process
 * alive. On the system's clock it is left to run for a moment when the queue is empty, so that the next entry need not create it anew.
 */
export class TimerQueue {
  readonly #clock: Clock;
  readonly #longest: number;
  readonly #heap: QueuedTimer[] = [];
  #armedFor = Infinity;
  #disarm: Cancel | undefined;

  /** The timer runs for `longest` ms at most, and is then not cancelled. `Infinity`: it is cancelled when nothing is due. */
  constructor(clock: Clock, longest = clock === systemClock ? LONGEST : Infinity) {
    this.#clock = clock;
    this.#longest = longest;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Calls `run` once `clock.now()` has reached `due`. */
  add(due: number, run: () => void): QueuedTimer {
    const timer = idleTimer(run);
    this.move(timer, due);
    return timer;
  }

  /** Calls `run` in `ms`, unless it is cancelled before. */
  later(ms: number, run: () => void): Cancel {
    const timer = this.add(this.#clock.now() + ms, run);
    return () => this.remove(timer);
  }

  /** Sets a new time, also for a timer that is idle, has run or was removed. */
  move(timer: QueuedTimer, due: number): void {
    const heap = this.#heap;
    timer.due = due;
    const isNew = heap[timer.index] !== timer;
    if (isNew) timer.index = heap.push(timer) - 1;
    const isLast = isNew && (timer.index === 0 || heap[(timer.index - 1) >> 1]!.due <= due);
    if (!isLast) this.#sift(timer);
    if (due < this.#armedFor) this.#arm();
  }

  /** Safe to call for a timer that has run or was removed. */
  remove(timer: QueuedTimer): void {
    if (this.#heap[timer.index] !== timer) return;
    const last = this.#heap.pop()!;
    if (last !== timer) {
      last.index = timer.index;
      this.#heap[timer.index] = last;
      if (this.#heap.length > 1) this.#sift(last);
    }
    timer.index = -1;
    const isIdle = this.#heap.length === 0 || this.#heap[0]!.due === Infinity; // some are never due
    if (isIdle && this.#longest === Infinity) this.#arm();
  }

  /** The timer is shared: due entries run in the root context, not in that of the caller that armed it. */
  readonly #fireInRoot = (): void => inRootContext(() => this.#fire());

  /** For the first entry. A timer that fires too early finds nothing due, so it is never moved to a later time. */
  #arm(): void {
    const due = this.#heap.length === 0 ? Infinity : this.#heap[0]!.due;
    this.#disarm?.();
    this.#disarm = undefined;
    this.#armedFor = Infinity;
    if (due === Infinity) return;
    const now = this.#clock.now();
    this.#armedFor = Math.min(due, now + this.#longest);
    this.#disarm = this.#clock.schedule(this.#armedFor - now, this.#fireInRoot, true);
  }

  #fire(): void {
    this.#armedFor = Infinity;
    this.#disarm = undefined;
    const now = this.#clock.now();
    for (let ran = 0; ran < SLICE && this.#isDue(now); ran++) {
      const first = this.#heap[0]!;
      this.remove(first);
      first.run();
    }
    this.#arm();
  }

  #isDue(now: number): boolean {
    return this.#heap.length > 0 && this.#heap[0]!.due <= now;
  }

  /** Moves an entry up or down, to its place in the heap. */
  #sift(timer: QueuedTimer): void {
    const heap = this.#heap;
    let { index } = timer;
    for (let above = (index - 1) >> 1; index > 0; above = (index - 1) >> 1) {
      if (heap[above]!.due <= timer.due) break;
      (heap[index] = heap[above]!).index = index;
      index = above;
    }
    for (let below = 2 * index + 1; below < heap.length; below = 2 * index + 1) {
      if (below + 1 < heap.length && heap[below + 1]!.due < heap[below]!.due) below++;
      if (heap[below]!.due >= timer.due) break;
      (heap[index] = heap[below]!).index = index;
      index = below;
    }
    (heap[index] = timer).index = index;
  }
}
