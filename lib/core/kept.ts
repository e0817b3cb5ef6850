import type { Linked } from './fifo.js';
import type { QueuedTimer } from './timer-queue.js';

/** A lease, as an entry among those that are kept and in the line of what is due next. */
export class Kept<Lease> implements QueuedTimer, Linked<Kept<Lease>> {
  before: Kept<Lease> | undefined;
  behind: Kept<Lease> | undefined;
  due = Infinity;
  index = -1;
  extendAt: number;
  /** How many are asked for or under way: a doubt asks for one more. */
  extensions = 0;
  /** Both belong to the bundle that the lease is extended with, if any. */
  bundle: object | undefined;
  place = -1;
  readonly lease: Lease;
  readonly #wake: (kept: Kept<Lease>) => void;

  constructor(lease: Lease, extendAt: number, wake: (kept: Kept<Lease>) => void) {
    this.lease = lease;
    this.extendAt = extendAt;
    this.#wake = wake;
  }

  run(): void {
    this.#wake(this);
  }
}
