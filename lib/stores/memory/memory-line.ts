import type { AcquireRequest, Lease } from '../../core/lock-store.js';

interface Waiter {
  readonly request: AcquireRequest;
  /** Answers in the same turn. Throws to end the wait. */
  readonly attempt: () => Lease | undefined;
  readonly resolve: (lease: Lease) => void;
  readonly reject: (error: unknown) => void;
}

/** Callers that wait for keys, in the order in which they came. */
export class MemoryLine {
  /** Whoever waits for several keys stands in the line of each. */
  readonly #lines = new Map<string, Set<Waiter>>();

  /** How many wait for `key`, or for any. */
  count(key?: string): number {
    const lines = key === undefined ? [...this.#lines.values()] : [this.#lines.get(key) ?? []];
    return new Set(lines.flatMap((line) => [...line])).size;
  }

  /** Somebody waits for one of the keys, and came before `self` where that stands in line. */
  isAwaited(keys: readonly string[], self?: Waiter): boolean {
    return keys.some((key) => {
      const first = this.#lines.get(key)?.values().next().value;
      return first !== undefined && first !== self;
    });
  }

  /** What those who wait for a key want to share it with. */
  permitsOf(key: string): number | undefined {
    for (const { request } of this.#lines.get(key) ?? [])
      if (request.permits !== undefined) return request.permits;
    return undefined;
  }

  /** Resolves with the first lease that an attempt brings. Rejects with what one throws, or with `signal.reason`. */
  wait(
    request: AcquireRequest,
    attempt: () => Lease | undefined,
    signal: AbortSignal,
  ): Promise<Lease> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => {
        this.#leave(waiter, () => reject(signal.reason));
        this.stir(request.keys); // who stood behind may share what this one wanted alone
      };
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          signal.removeEventListener('abort', leave);
          settle(value);
        };
      const waiter = { request, attempt, resolve: settled(resolve), reject: settled(reject) };
      for (const key of request.keys) this.#lineOf(key).add(waiter);
      signal.addEventListener('abort', leave, { once: true });
      this.#try(waiter);
    });
  }

  /** Something has changed: those who wait for one of the keys, or for any, try again. */
  stir(keys: Iterable<string> = this.#lines.keys()): void {
    for (const key of keys) for (const waiter of this.#lines.get(key) ?? []) this.#try(waiter);
  }

  /** Those who share a key come after everybody who waits for it already. */
  #try(waiter: Waiter): void {
    const { keys, permits } = waiter.request;
    if (permits !== undefined && this.isAwaited(keys, waiter)) return;
    try {
      const lease = waiter.attempt();
      if (lease) this.#leave(waiter, () => waiter.resolve(lease));
    } catch (error) {
      this.#leave(waiter, () => waiter.reject(error));
    }
  }

  #leave(waiter: Waiter, settle: () => void): void {
    for (const key of waiter.request.keys) {
      const line = this.#lines.get(key);
      line?.delete(waiter);
      if (line?.size === 0) this.#lines.delete(key);
    }
    settle();
    const { keys } = waiter.request;
    if (keys.length > 1) this.stir(keys); // those behind it at its other keys may come in
  }

  #lineOf(key: string): Set<Waiter> {
    let line = this.#lines.get(key);
    if (!line) this.#lines.set(key, (line = new Set()));
    return line;
  }
}
