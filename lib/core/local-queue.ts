import { Fifo } from './fifo.js';
import type { Linked } from './fifo.js';

/** More contenders than this are of no use, however many may share a key. */
const MOST_AT_FRONT = 100;

/** Somebody in a line. */
export interface InLine<T> extends Linked<T> {
  /** How many may hold the key together. Missing: this one wants it alone. */
  readonly permits: number | undefined;
  /** Called at the front. `false`: not all of its other keys have room, and it stands in the line of one of those now. */
  arrive(): boolean;
}

/** Who is at the front of a key, and who stands behind. */
class Line<T extends InLine<T>> {
  readonly waiting = new Fifo<T>();
  /** Of those at the front, who share the key. Missing: one is there, for itself. */
  permits: number | undefined;
  /** How many of them there are. */
  sharers = 0;
  /** Why the store refused to answer the last one at the front, if it did. */
  failure: unknown;

  /** Whether one more may come to the front. */
  hasRoomFor(permits: number | undefined): boolean {
    const isShared = permits !== undefined && permits === this.permits;
    return isShared && this.sharers < Math.min(permits, MOST_AT_FRONT);
  }

  /** Whether all who are there share the key, and only the number at the front keeps one more from it, and others waiting. */
  isCrowdedBy(permits: number | undefined): boolean {
    if (permits === undefined || permits !== this.permits) return false;
    if (this.sharers < MOST_AT_FRONT || this.sharers >= permits) return false;
    return this.waiting.list().every((turn) => turn.permits === permits);
  }

  seat(permits: number | undefined): void {
    this.permits = permits;
    if (permits !== undefined) this.sharers++;
  }
}

/**
 * One line per key, in the order of arrival: only the front of a line asks the store or holds the key, so a process is never
 * more than one contender, however many callers it has. Those who share a key are at the front together, and only until they
 * have it.
 */
export class LocalQueue<T extends InLine<T>> {
  /** A key is here while somebody is at its front, and has a line while somebody stands behind or shares the front. */
  readonly #lines = new Map<string, Line<T> | undefined>();
  readonly #isOpen: boolean;

  /** `isOpen`: everybody is at the front at once. */
  constructor(isOpen = false) {
    this.#isOpen = isOpen;
  }

  /** Goes to the front of all keys, if nobody is there with whom it cannot be shared. `isOnce`: for one attempt, or not at all. */
  enter(keys: readonly string[], permits?: number, isOnce = false): boolean {
    if (this.#isOpen) return true;
    if (this.taken(keys, permits, isOnce) !== undefined) return false;
    for (const key of keys) this.#lines.set(key, this.#seated(key, permits));
    return true;
  }

  /** The first of the keys at whose front is no room. */
  taken(keys: readonly string[], permits?: number, isOnce = false): string | undefined {
    return keys.find((key) => this.#lines.has(key) && !this.#canShare(key, permits, isOnce));
  }

  /** Stands behind whoever is at the front. */
  join(key: string, turn: T): void {
    let line = this.#lines.get(key);
    if (!line) this.#lines.set(key, (line = new Line<T>()));
    line.waiting.add(turn);
  }

  /** For a turn that stands behind the front of `key`. */
  quit(key: string, turn: T): void {
    const line = this.#lines.get(key)!;
    line.waiting.remove(turn);
    this.#admit(line); // those behind it may share the front
  }

  /** The first behind the front. */
  next(key: string): T | undefined {
    return this.#lines.get(key)?.waiting.first;
  }

  /** Somebody at the front of `key` makes room. `failure` is what the store did to it. */
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

  /** What the store did to the last one at the front of `key`, unless it has answered since. */
  failureOf(key: string): unknown {
    return this.#lines.get(key)?.failure;
  }

  /** The store has answered the front of `key`. */
  clear(key: string): void {
    const line = this.#lines.get(key);
    if (line) line.failure = undefined;
  }

  /** Nobody is at the front: the next one goes there, with those who share it. */
  #advance(key: string, line: Line<T>): void {
    for (let next = line.waiting.first; next; next = line.waiting.first)
      if (this.#bring(next, line)) return this.#admit(line);
    this.#lines.delete(key);
  }

  #bring(next: T, line: Line<T>): boolean {
    line.waiting.remove(next);
    const stays = next.arrive();
    if (stays) line.seat(next.permits);
    return stays;
  }

  #admit(line: Line<T>): void {
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

  #seated(key: string, permits: number | undefined): Line<T> | undefined {
    if (permits === undefined) return undefined;
    const line = this.#lines.get(key) ?? new Line<T>();
    line.seat(permits);
    return line;
  }
}
