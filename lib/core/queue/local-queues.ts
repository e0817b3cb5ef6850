import { LocalLine } from './key-queue.js';
import type { InLine } from './key-queue.js';

export interface PermitsInUse {
  readonly key: string;
  readonly inUse: number;
}

/**
 * One line per key, in the order of arrival. Only the front of a line asks the store or holds the key, so a process is never
 * more than one contender, however many callers it has. Sharers are at the front together, and only until they have the key.
 */
export class LocalQueue<T extends InLine<T>> {
  /**
   * Has an entry while the front of the key is taken. The entry has a line while the key has waiters or sharers at the front.
   */
  readonly #lines = new Map<string, LocalLine<T> | undefined>();
  readonly #isOpen: boolean;

  /** `isOpen`: all callers are at the front at once. */
  constructor(isOpen = false) {
    this.#isOpen = isOpen;
  }

  /** Goes to the front of all keys, if no caller there excludes it. `isOnce`: for one attempt, or not at all. */
  enter(keys: readonly string[], permits?: number, isOnce = false): boolean {
    if (this.#isOpen) return true;
    if (this.taken(keys, permits, isOnce) !== undefined) return false;
    for (const key of keys) this.#lines.set(key, this.#seated(key, permits));
    return true;
  }

  /** The first of the keys without room at its front. */
  taken(keys: readonly string[], permits?: number, isOnce = false): string | undefined {
    for (const key of keys)
      if (this.#lines.has(key) && !this.#canShare(key, permits, isOnce)) return key;
    return undefined;
  }

  /** The first of the keys that callers of this process share, or wait to share, with other permits. */
  otherPermits(keys: readonly string[], permits: number): PermitsInUse | undefined {
    for (const key of keys) {
      const inUse = this.#lines.get(key)?.permitsInUse;
      if (inUse !== undefined && inUse !== permits) return { key, inUse };
    }
    return undefined;
  }

  /** Waits behind the front. */
  join(key: string, turn: T): void {
    let line = this.#lines.get(key);
    if (!line) this.#lines.set(key, (line = new LocalLine<T>()));
    line.add(turn);
  }

  /** For a ticket that waits behind the front of `key`. */
  quit(key: string, turn: T): void {
    const line = this.#lines.get(key)!;
    line.remove(turn);
    this.#admit(line); // the waiters behind it may share the front
  }

  /** The first behind the front. */
  next(key: string): T | undefined {
    return this.#lines.get(key)?.waiting.first;
  }

  /** A caller at the front of `key` makes room. `failure` is the store's, for that caller. */
  leave(key: string, failure?: unknown): void {
    const line = this.#lines.get(key);
    if (!line) {
      this.#lines.delete(key);
      return;
    }
    line.failure = failure;
    if (line.sharers > 0) line.sharers--;
    if (line.sharers === 0) this.#advance(key, line);
    else this.#admit(line);
  }

  /** The store's failure for the last caller at the front of `key`, unless it has answered since. */
  failureOf(key: string): unknown {
    return this.#lines.get(key)?.failure;
  }

  /** The store has answered the front of `key`. */
  clear(key: string): void {
    const line = this.#lines.get(key);
    if (line) line.failure = undefined;
  }

  /** The front is empty: the next waiter goes there, with the sharers that fit. */
  #advance(key: string, line: LocalLine<T>): void {
    for (let next = line.waiting.first; next; next = line.waiting.first)
      if (this.#bring(next, line)) return this.#admit(line);
    this.#lines.delete(key);
  }

  #bring(next: T, line: LocalLine<T>): boolean {
    line.remove(next);
    const stays = next.arrive();
    if (stays) line.seat(next.permits);
    return stays;
  }

  #admit(line: LocalLine<T>): void {
    let next = line.waiting.first;
    while (next && line.hasRoomFor(next.permits)) {
      this.#bring(next, line);
      next = line.waiting.first;
    }
  }

  #canShare(key: string, permits: number | undefined, isOnce: boolean): boolean {
    const line = this.#lines.get(key);
    if (line === undefined) return false;
    if (isOnce && line.isCrowdedBy(permits)) return true;
    return !line.waiting.first && line.hasRoomFor(permits);
  }

  #seated(key: string, permits: number | undefined): LocalLine<T> | undefined {
    if (permits === undefined) return undefined;
    const line = this.#lines.get(key) ?? new LocalLine<T>();
    line.seat(permits);
    return line;
  }
}
