import type { Clock } from '../core/async/clock.js';
import type { LockEvents } from '../core/events/lock-events.js';

/** Milliseconds without a failure, after which a success says that the store is back, and below which there was no outage. */
const QUIET = 1_000;

/** Tells once when a store answers again. Listens to grants while it fails, and costs nothing else. */
export class StoreRecovery {
  readonly #events: LockEvents;
  readonly #clock: Clock;
  readonly #tell: (line: string) => void;
  #store = '';
  #since: number | undefined;
  #last = 0;

  constructor(events: LockEvents, clock: Clock, tell: (line: string) => void) {
    this.#events = events;
    this.#clock = clock;
    this.#tell = tell;
  }

  failed(store: string): void {
    this.#store = store;
    this.#last = this.#clock.now();
    if (this.#since !== undefined) return;
    this.#since = this.#last;
    this.#events.on('held', this.#succeeded);
    this.#events.on('recovered', this.#succeeded);
  }

  close(): void {
    this.#since = undefined;
    this.#events.off('held', this.#succeeded);
    this.#events.off('recovered', this.#succeeded);
  }

  /** A lock that is handed off inside the process is granted without the store: the first moments do not count. */
  readonly #succeeded = (): void => {
    if (this.#clock.now() - this.#last < QUIET) return;
    const lasted = this.#last - this.#since!;
    this.close();
    if (lasted < QUIET) return;
    this.#tell(
      `Lock store "${this.#store}" answers again: it failed for ${(lasted / 1_000).toFixed(1)} s`,
    );
  };
}
