import { isShared } from '../sharing/hold-mode.js';
import { LinkedQueue } from './linked-queue.js';
import type { Linked } from './linked-queue.js';
import type { HandedOff } from '../store/grant.js';

/** More contenders than this are useless, whatever the number of permits. */
const MOST_AT_FRONT = 100;

/** An entry of a queue. */
export interface QueueEntry<T> extends Linked<T> {
  readonly keys: readonly string[];
  /** Maximum number of holders. Missing: exclusive. */
  readonly permits: number | undefined;
  /** Called at the front, perhaps with the lease of the holder before. `false`: one of its other keys has no room, and it has moved to the queue of that key. */
  arrive(handedOff?: HandedOff): boolean;
}

/** The callers at the front of a key, and the waiters behind. */
export class KeyQueue<T extends QueueEntry<T>> {
  readonly waiting = new LinkedQueue<T>();
  /** Permits of the sharers at the front. Missing: the front is exclusive. */
  permits: number | undefined;
  /** Number of sharers at the front. */
  sharers = 0;
  /** The store's failure for the last caller at the front, if any. */
  failure: unknown;
  /** Of the waiters: the number of sharers, and the permits of the last one. */
  #waitingSharers = 0;
  #awaitedPermits: number | undefined;

  /** Whether one more may come to the front. */
  hasRoomFor(permits: number | undefined): boolean {
    if (!isShared(permits) || permits !== this.permits) return false;
    return this.sharers < Math.min(permits, MOST_AT_FRONT);
  }

  /** Whether the front is all sharers, and only their number, and other waiters, keep one more from it. */
  isCrowdedBy(permits: number | undefined): boolean {
    if (!isShared(permits) || permits !== this.permits) return false;
    if (this.sharers < MOST_AT_FRONT || this.sharers >= permits) return false;
    return this.waiting.list().every((ticket) => ticket.permits === permits);
  }

  /** Permits that the sharers or the waiting sharers of the key ask for. */
  get permitsInUse(): number | undefined {
    return this.permits ?? (this.#waitingSharers > 0 ? this.#awaitedPermits : undefined);
  }

  /** Joins the end of the queue. */
  add(ticket: T): void {
    this.waiting.add(ticket);
    if (!isShared(ticket.permits)) return;
    this.#waitingSharers++;
    this.#awaitedPermits = ticket.permits;
  }

  /** For an entry of this queue. */
  remove(ticket: T): void {
    this.waiting.remove(ticket);
    if (isShared(ticket.permits)) this.#waitingSharers--;
  }

  seat(permits: number | undefined): void {
    this.permits = permits;
    if (isShared(permits)) this.sharers++;
  }
}
