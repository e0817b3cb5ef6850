import { Fifo } from './fifo.js';
import type { Linked } from './fifo.js';

/** Somebody in a line. `arrive` is called at its front. */
export interface InLine<T> extends Linked<T> {
  arrive(): void;
}

/** Who stands behind the front of a key. */
class Line<T extends InLine<T>> {
  readonly waiting = new Fifo<T>();
  /** Why the store refused to answer the last one at the front, if it did. */
  failure: unknown;
}

/**
 * One line per key, in the order of arrival: only the front of a line asks the store or holds the key, so a process is never
 * more than one contender, however many callers it has.
 */
export class LocalQueue<T extends InLine<T>> {
  /** A key is here while somebody is at its front, and has a line while somebody stands behind. */
  readonly #lines = new Map<string, Line<T> | undefined>();
  readonly #isOpen: boolean;

  /** `isOpen`: everybody is at the front at once. */
  constructor(isOpen = false) {
    this.#isOpen = isOpen;
  }

  /** Goes to the front of all keys, if nobody is there. */
  enter(keys: readonly string[]): boolean {
    if (this.#isOpen) return true;
    if (this.taken(keys) !== undefined) return false;
    for (const key of keys) this.#lines.set(key, undefined);
    return true;
  }

  /** The first of the keys that has somebody at its front. */
  taken(keys: readonly string[]): string | undefined {
    for (const key of keys) if (this.#lines.has(key)) return key;
    return undefined;
  }

  /** Stands behind whoever is at the front. */
  join(key: string, turn: T): void {
    let line = this.#lines.get(key);
    if (!line) this.#lines.set(key, (line = new Line<T>()));
    line.waiting.add(turn);
  }

  /** For a turn that stands behind the front of `key`. */
  quit(key: string, turn: T): void {
    this.#lines.get(key)!.waiting.remove(turn);
  }

  /** The first behind the front. */
  next(key: string): T | undefined {
    return this.#lines.get(key)?.waiting.first;
  }

  /** The front of `key` makes room. `failure` is what the store did to it. */
  leave(key: string, failure?: unknown): void {
    const next = this.next(key);
    if (!next) {
      this.#lines.delete(key);
      return;
    }
    this.#lines.get(key)!.failure = failure;
    this.quit(key, next);
    next.arrive();
  }

  /** What the store did to the last one at the front of `key`, unless it has answered since. */
  failureOf(key: string): unknown {
    return this.#lines.get(key)?.failure;
  }

  /** The store has answered the front of `key`. */
  clear(key: string): void {
    const line = this.#lines.get(key);
    if (line) line.failure = undefined;
  }
}
