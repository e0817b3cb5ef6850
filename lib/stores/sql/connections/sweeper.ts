import { systemClock } from '../../../core/async/clock.js';
import type { LockTable } from '../common/lock-table.js';

/** Milliseconds between two sweeps of one process. */
const SWEEP_EVERY = 600_000;
/** Rows of one sweep. A statement on SQLite blocks its process. */
const SWEEP_ROWS = 1_000;
/** Milliseconds to the next sweep when more rows than that were left. */
const SWEEP_ON = 1_000;

/**
 * Now and then, when a lock is taken, removes the rows of keys that have been free for a day. The first sweep is at a random
 * time, so that processes that live for seconds do their share, too.
 */
export class Sweeper {
  readonly #table: LockTable;
  #due = systemClock.now() + Math.random() * SWEEP_EVERY;

  constructor(table: LockTable) {
    this.#table = table;
  }

  /** Runs in the background. Never throws. */
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
