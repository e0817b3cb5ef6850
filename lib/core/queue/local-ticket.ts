import type { HandedOff } from '../store/grant.js';
import type { QueueEntry } from './key-queue.js';
import { LockPermitsError } from '../contract/lock-errors.js';
import type { LocalQueues } from './local-queues.js';
import { TicketWait } from './ticket-wait.js';
import type { TicketLimits } from './ticket-wait.js';
import { isShared } from '../sharing/hold-mode.js';

/** A caller of this process, and what it asks for. */
export interface LocalCaller {
  readonly keys: readonly string[];
  /** The ttl that the caller wants of a lease handed off to it. */
  readonly ttl: number;
  /** Maximum number of holders. Missing: exclusive. */
  readonly permits: number | undefined;
  /** Whether its lease is extended automatically. If not, a lease handed off to it needs the whole ttl, but for a hundredth. */
  readonly autoExtend: boolean;
}

/**
 * The way of a caller to the front of its keys, for one that has to wait. A caller of several keys waits in the queue of one that is
 * taken and blocks none of the others meanwhile, so that two callers never wait for each other.
 */
export class LocalTicket implements QueueEntry<LocalTicket>, LocalCaller {
  before: LocalTicket | undefined;
  behind: LocalTicket | undefined;
  readonly keys: readonly string[];
  readonly ttl: number;
  readonly permits: number | undefined;
  readonly autoExtend: boolean;
  readonly #queues: LocalQueues<LocalTicket>;
  /** The keys at whose front it is: none or all of them. */
  #fronts: readonly string[];
  /** The key in whose queue it waits. */
  #awaited = '';
  /** Set while this caller waits behind another one. */
  #wait: TicketWait<HandedOff | undefined> | undefined;

  /** `isAtFront`: the caller is at the front of all keys. */
  constructor(queues: LocalQueues<LocalTicket>, caller: LocalCaller, isAtFront = false) {
    this.#queues = queues;
    this.keys = caller.keys;
    this.ttl = caller.ttl;
    this.permits = caller.permits;
    this.autoExtend = caller.autoExtend;
    this.#fronts = isAtFront ? this.keys : [];
  }

  /**
   * For a caller that could not go to the front. As the store would answer; it does not know of the local callers at the front
   * yet.
   */
  get permitsError(): LockPermitsError | undefined {
    if (!isShared(this.permits)) return undefined;
    const other = this.#queues.otherPermits(this.keys, this.permits);
    return other && new LockPermitsError(other.key, this.permits, other.inUse);
  }

  /** Leaves the fronts of its other keys to the waiters behind, while `key` is awaited elsewhere. Missing: leaves them all. */
  keep(key?: string): void {
    const others = this.#fronts.filter((each) => each !== key);
    this.#fronts = this.#fronts.filter((each) => each === key);
    this.#queues.leave(others);
  }

  /** Goes to the fronts at which it is not, if there is room at all of them. */
  take(): boolean {
    const others = this.keys.filter((key) => !this.#fronts.includes(key));
    if (!this.#queues.enter(others, this.permits)) return false;
    this.#fronts = this.keys;
    return true;
  }

  /**
   * Resolves at the front of all keys, with the lease if the previous holder handed it off. Rejects as `limits` say. A caller
   * that kept one front leaves it for the queue of another key.
   */
  wait(limits: TicketLimits): Promise<HandedOff | undefined> {
    return new Promise((resolve, reject) => {
      this.#wait = new TicketWait(limits, this, resolve, reject);
      this.#wait.begin();
      const kept = this.#fronts;
      this.#fronts = [];
      this.#awaited = kept[0] ?? '';
      if (!this.#enqueue()) this.#queues.leave(kept);
    });
  }

  /** Ends the wait, if there is one. */
  stop(reason: unknown): boolean {
    const wait = this.#wait;
    if (!wait) return false;
    this.#queues.quit(this.#awaited, this);
    this.#wait = undefined;
    wait.reject(reason);
    return true;
  }

  /** The previous caller has left the front, perhaps handing off its lease. */
  arrive(handedOff?: HandedOff): boolean {
    return this.#enqueue(handedOff);
  }

  /** Makes room at the fronts. Safe to call twice. `failure` is the store's, for this caller. */
  leave(failure?: unknown): void {
    const fronts = this.#fronts;
    this.#fronts = [];
    this.#queues.leave(fronts, failure);
  }

  /** The store's failure for the last caller that asked for the awaited key. */
  get failure(): unknown {
    return this.#queues.failureOf(this.#awaited);
  }

  /**
   * Goes to the front of all keys, or waits in the queue of the first other one that is taken. It keeps no front meanwhile:
   * callers that each kept one of two keys, to look at the other, would go round for ever.
   */
  #enqueue(handedOff?: HandedOff): boolean {
    const others = this.keys.filter((key) => key !== this.#awaited);
    if (this.#queues.enter(others, this.permits)) {
      this.#fronts = this.keys;
      this.#come(handedOff);
      return true;
    }
    this.#awaited = this.#queues.taken(others, this.permits)!;
    this.#queues.join(this.#awaited, this);
    return false;
  }

  #come(handedOff: HandedOff | undefined): void {
    const wait = this.#wait!;
    this.#wait = undefined;
    wait.resolve(handedOff);
  }
}
