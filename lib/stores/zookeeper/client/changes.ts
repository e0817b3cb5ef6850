import type { Cancel, Clock } from '../../../core/async/clock.js';

/** Lets any number of callers wait for the next change of something. */
export class Changes {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tell(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves at the next change, when `signal` aborts, or at `until`. Never rejects. */
  next(until = Infinity, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let cancel: Cancel = () => {};
      const wake = () => {
        cancel();
        signal?.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      if (until < Infinity) cancel = this.#clock.schedule(until - this.#clock.now(), wake);
      signal?.addEventListener('abort', wake, { once: true });
      this.#waiting.add(wake);
    });
  }
}
