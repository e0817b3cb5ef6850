import { Fifo } from '../fifo.js';
import type { Linked } from '../fifo.js';

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
export class LocalLine<T extends InLine<T>> {
  readonly waiting = new Fifo<T>();
  /** Of those at the front, who share the key. Missing: one is there, for itself. */
  permits: number | undefined;
  /** How many of them there are. */
  sharers = 0;
  /** Why the store refused to answer the last one at the front, if it did. */
  failure: unknown;
  /** Of those who wait, how many share the key, and what the last of them asked for. */
  #waitingSharers = 0;
  #awaitedPermits: number | undefined;

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

  /** What those ask for who share the key, or wait to share it. */
  get permitsInUse(): number | undefined {
    return this.permits ?? (this.#waitingSharers > 0 ? this.#awaitedPermits : undefined);
  }

  /** Stands behind the others. */
  add(turn: T): void {
    this.waiting.add(turn);
    if (turn.permits === undefined) return;
    this.#waitingSharers++;
    this.#awaitedPermits = turn.permits;
  }

  /** For one that stands here. */
  remove(turn: T): void {
    this.waiting.remove(turn);
    if (turn.permits !== undefined) this.#waitingSharers--;
  }

  seat(permits: number | undefined): void {
    this.permits = permits;
    if (permits !== undefined) this.sharers++;
  }
}
