import { systemClock } from '../../core/clock.js';
import type { LockTable } from './lock-table.js';

/** Milliseconds between two sweeps of one process. */
const SWEEP_EVERY = 600_000;
/** Rows of one sweep. A statement on SQLite blocks its process. */
const SWEEP_ROWS = 1_000;
/** Milliseconds to the next one when there was more than that. */
const SWEEP_ON = 1_000;

/**
 * Removes the rows of keys that nobody has had for a day, now and then, when a lock is taken. The first time is random, so that
 * processes which live for seconds do their share, too.
 */
export class Sweeper {
  readonly #table: LockTable;
  #due = systemClock.now() + Math.random() * SWEEP_EVERY;

  constructor(table: LockTable) {
    this.#table = table;
  }

  /** Never throws, and nobody waits for it. */
  lockTaken(): void {
    if (systemClock.now() < this.#due) return;
    this.#due = systemClock.now() + SWEEP_EVERY;
    this.#table.sweep(SWEEP_ROWS).then(
      (removed) => {
        if (removed === SWEEP_ROWS) this.#due = systemClock.now() + SWEEP_ON;
      },
      () => undefined, // the rows are still there the next time
    );
  }
}
