import type { Lease } from '../core/lock-store.js';

interface Waiter {
  readonly keys: readonly string[];
  /** Answers in the same turn. Throws to end the wait. */
  readonly attempt: () => Lease | undefined;
  readonly resolve: (lease: Lease) => void;
  readonly reject: (error: unknown) => void;
}

/** Callers that wait, in the order in which they came. */
export class WaitingLine {
  readonly #waiters = new Set<Waiter>();

  /** How many wait for `key`, or for any. */
  count(key?: string): number {
    const waiters = [...this.#waiters];
    return waiters.filter(({ keys }) => key === undefined || keys.includes(key)).length;
  }

  /** Resolves with the first lease that an attempt brings. Rejects with what one throws, or with `signal.reason`. */
  wait(
    keys: readonly string[],
    attempt: () => Lease | undefined,
    signal: AbortSignal,
  ): Promise<Lease> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => this.#leave(waiter, () => reject(signal.reason));
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          signal.removeEventListener('abort', leave);
          settle(value);
        };
      const waiter: Waiter = {
        keys,
        attempt,
        resolve: settled(resolve),
        reject: settled(reject),
      };
      this.#waiters.add(waiter);
      signal.addEventListener('abort', leave, { once: true });
      this.#try(waiter);
    });
  }

  /** Something has changed: everybody tries again. */
  stir(): void {
    for (const waiter of this.#waiters) this.#try(waiter);
  }

  #try(waiter: Waiter): void {
    try {
      const lease = waiter.attempt();
      if (lease) this.#leave(waiter, () => waiter.resolve(lease));
    } catch (error) {
      this.#leave(waiter, () => waiter.reject(error));
    }
  }

  #leave(waiter: Waiter, settle: () => void): void {
    this.#waiters.delete(waiter);
    settle();
  }
}
