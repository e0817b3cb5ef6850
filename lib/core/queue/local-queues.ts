import { KeyQueue } from './key-queue.js';
import type { QueueEntry } from './key-queue.js';
import type { HandedOff } from '../store/grant.js';
import { isShared } from '../sharing/hold-mode.js';

export interface PermitsInUse {
  readonly key: string;
  readonly inUse: number;
}

/**
 * One queue per key, in the order of arrival. Only the front of a queue asks the store or holds the key, so a process is never
 * more than one contender, however many callers it has. Sharers are at the front together, and only until they have the key.
 */
export class LocalQueues<T extends QueueEntry<T>> {
  /**
   * Has an entry while the front of the key is taken. The entry has a queue while the key has waiters or sharers at the front.
   */
  readonly #queues = new Map<string, KeyQueue<T> | undefined>();
  readonly #isOpen: boolean;
  mayHaveFailed = false; // the store, for a caller: otherwise `answered` changes nothing

  /** `isOpen`: all callers are at the front at once. */
  constructor(isOpen = false) {
    this.#isOpen = isOpen;
  }

  /** Goes to the front of all keys, if no caller there excludes it. `isOnce`: for one attempt, or not at all. */
  enter(keys: readonly string[], permits?: number, isOnce = false): boolean {
    if (this.#isOpen) return true;
    for (const key of keys)
      if (this.#queues.has(key) && !this.#canShare(key, permits, isOnce)) return false;
    for (const key of keys)
      this.#queues.set(key, isShared(permits) ? this.#seated(key, permits) : undefined);
    return true;
  }

  /** The first of the keys without room at its front. */
  taken(keys: readonly string[], permits?: number): string | undefined {
    return keys.find((key) => this.#queues.has(key) && !this.#canShare(key, permits, false));
  }

  /** The first of the keys that callers of this process share, or wait to share, with other permits. */
  otherPermits(keys: readonly string[], permits: number): PermitsInUse | undefined {
    for (const key of keys) {
      const inUse = this.#queues.get(key)?.permitsInUse;
      if (inUse !== undefined && inUse !== permits) return { key, inUse };
    }
    return undefined;
  }

  /** Waits behind the front. */
  join(key: string, ticket: T): void {
    let queue = this.#queues.get(key);
    if (!queue) this.#queues.set(key, (queue = new KeyQueue<T>()));
    queue.add(ticket);
  }

  /** For a ticket that waits behind the front of `key`. */
  quit(key: string, ticket: T): void {
    const queue = this.#queues.get(key)!;
    queue.remove(ticket);
    this.#admit(queue); // the waiters behind it may share the front
  }

  /**
   * The first caller behind an exclusive one at the front of `keys` that could take its lease over. A lease of several keys goes back
   * to the store.
   */
  next(keys: readonly string[]): T | undefined {
    const next = keys.length === 1 ? this.#queues.get(keys[0]!)?.waiting.first : undefined;
    return next?.keys.length === 1 && !isShared(next.permits) ? next : undefined;
  }

  /**
   * A caller at the front of `keys` makes room. `failure` is the store's, for that caller. Last first: a caller of all of them waits in
   * the queue of the first.
   */
  leave(keys: readonly string[], failure?: unknown): void {
    for (let at = keys.length - 1; at >= 0; at--) {
      const queue = this.#queues.get(keys[at]!);
      if (queue) this.#makeRoom(keys[at]!, queue, failure);
      else this.#queues.delete(keys[at]!);
    }
  }

  /** The holder at the front of `key` gives its place and its lease to `next`, which waits there. */
  handOff(key: string, next: T, handedOff: HandedOff): void {
    const queue = this.#queues.get(key)!;
    queue.failure = undefined;
    this.quit(key, next);
    next.arrive(handedOff);
  }

  /** The store's failure for the last caller at the front of `key`, unless it has answered since. */
  failureOf(key: string): unknown {
    return this.#queues.get(key)?.failure;
  }

  /** The store has answered the fronts of `keys`. */
  answered(keys: readonly string[]): void {
    for (const key of keys) {
      const queue = this.#queues.get(key);
      if (queue) queue.failure = undefined;
    }
  }

  #makeRoom(key: string, queue: KeyQueue<T>, failure: unknown): void {
    queue.failure = failure;
    this.mayHaveFailed ||= failure !== undefined;
    if (queue.sharers > 0) queue.sharers--;
    if (queue.sharers === 0) this.#advance(key, queue);
    else this.#admit(queue);
  }

  /** The front is empty: the next waiter goes there, with the sharers that fit. */
  #advance(key: string, queue: KeyQueue<T>): void {
    for (let next = queue.waiting.first; next; next = queue.waiting.first)
      if (this.#bring(next, queue)) return this.#admit(queue);
    this.#queues.delete(key);
  }

  #bring(next: T, queue: KeyQueue<T>): boolean {
    queue.remove(next);
    const stays = next.arrive();
    if (stays) queue.seat(next.permits);
    return stays;
  }

  #admit(queue: KeyQueue<T>): void {
    let next = queue.waiting.first;
    while (next && queue.hasRoomFor(next.permits)) {
      this.#bring(next, queue);
      next = queue.waiting.first;
    }
  }

  #canShare(key: string, permits: number | undefined, isOnce: boolean): boolean {
    const queue = this.#queues.get(key);
    if (queue === undefined) return false;
    if (isOnce && queue.isCrowdedBy(permits)) return true;
    return !queue.waiting.first && queue.hasRoomFor(permits);
  }

  #seated(key: string, permits: number): KeyQueue<T> {
    const queue = this.#queues.get(key) ?? new KeyQueue<T>();
    queue.seat(permits);
    return queue;
  }
}
