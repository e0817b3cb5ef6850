import type { AcquireRequest, Lease } from '../../core/contract/lock-store.js';
import { isShared } from '../../core/sharing/hold-mode.js';

interface Waiter {
  readonly request: AcquireRequest;
  /** Answers in the same turn. Throws to end the wait. */
  readonly attempt: () => Lease | undefined;
  readonly resolve: (lease: Lease) => void;
  readonly reject: (error: unknown) => void;
}

/** Callers that wait for keys, in the order in which they came. */
export class MemoryQueue {
  /** A caller of several keys queues for each of them. */
  readonly #queues = new Map<string, Set<Waiter>>();

  /** How many wait for `key`, or for any. */
  count(key?: string): number {
    const queues = key === undefined ? [...this.#queues.values()] : [this.#queues.get(key) ?? []];
    return new Set(queues.flatMap((queue) => [...queue])).size;
  }

  /** The requests that wait for a key, the first first. */
  waiting(key: string): AcquireRequest[] {
    return Array.from(this.#queues.get(key) ?? [], ({ request }) => request);
  }

  /** Whether another caller waits for one of the keys, and came before `self` if `self` waits, too. */
  isAwaited(keys: readonly string[], self?: Waiter): boolean {
    return keys.some((key) => this.#queues.get(key)?.values().next().value !== self);
  }

  /** The permits that the waiters of a key ask for. */
  permitsOf(key: string): number | undefined {
    for (const { request } of this.#queues.get(key) ?? [])
      if (isShared(request.permits)) return request.permits;
    return undefined;
  }

  /** Resolves with the first lease that an attempt brings. Rejects with the error of an attempt, or with `signal.reason`. */
  wait(
    request: AcquireRequest,
    attempt: () => Lease | undefined,
    signal: AbortSignal,
  ): Promise<Lease> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => {
        this.#leave(waiter, () => reject(signal.reason));
        this.stir(request.keys); // the callers behind it may share what this one wanted exclusively
      };
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          signal.removeEventListener('abort', leave);
          settle(value);
        };
      const waiter = { request, attempt, resolve: settled(resolve), reject: settled(reject) };
      for (const key of request.keys) this.#queueOf(key).add(waiter);
      signal.addEventListener('abort', leave, { once: true });
      this.#try(waiter);
    });
  }

  /** Lets the waiters of the keys, or of any, try again. */
  stir(keys: Iterable<string> = this.#queues.keys()): void {
    for (const key of keys) for (const waiter of this.#queues.get(key) ?? []) this.#try(waiter);
  }

  /** A sharer comes after all callers that already wait for the key. */
  #try(waiter: Waiter): void {
    const { keys, permits } = waiter.request;
    if (isShared(permits) && this.isAwaited(keys, waiter)) return;
    try {
      const lease = waiter.attempt();
      if (lease) this.#leave(waiter, () => waiter.resolve(lease));
    } catch (error) {
      this.#leave(waiter, () => waiter.reject(error));
    }
  }

  #leave(waiter: Waiter, settle: () => void): void {
    for (const key of waiter.request.keys) {
      const queue = this.#queues.get(key);
      queue?.delete(waiter);
      if (queue?.size === 0) this.#queues.delete(key);
    }
    settle();
    const { keys } = waiter.request;
    if (keys.length > 1) this.stir(keys); // the callers behind it at its other keys may be let in
  }

  #queueOf(key: string): Set<Waiter> {
    let queue = this.#queues.get(key);
    if (!queue) this.#queues.set(key, (queue = new Set()));
    return queue;
  }
}
