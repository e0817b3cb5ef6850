import { sleep } from '../async/sleep.js';
import { giveBack } from '../store/grant.js';
import type { Grant } from '../store/grant.js';
import type { Clock } from '../async/clock.js';
import type { LockStore } from '../contract/lock-store.js';
import type { LocalTicket } from '../queue/local-ticket.js';
import type { TicketLimits } from '../queue/ticket-wait.js';
import type { StoreAttempts } from './store-attempts.js';
import type { WaitDeadline } from './wait-deadline.js';
import { QueueAttempts } from './queue-attempts.js';

/** A caller that competes for keys, and its means. */
export interface Contender {
  readonly store: LockStore;
  readonly clock: Clock;
  readonly ticket: LocalTicket;
  readonly attempts: StoreAttempts;
  readonly waitDeadline: WaitDeadline;
  readonly limits: TicketLimits;
}

/**
 * Milliseconds. Each round waits a random part of this times the rounds so far, so that two callers that block each other part.
 */
const PAUSE = 2;
const LONGEST_PAUSE = 50;

/**
 * Waits for several keys on a store that grants each separately: the caller queues for one refused key and holds nothing
 * meanwhile. When that key arrives, it tries the others. If one of them is taken, it gives the key back and queues for that one.
 * So no caller waits for a free key, and no two wait for each other.
 */
export class KeyByKey {
  readonly #self: Contender;
  readonly #queue: QueueAttempts;

  constructor(self: Contender) {
    this.#self = self;
    this.#queue = new QueueAttempts(self.store, self.clock, self.attempts);
  }

  /** Resolves `undefined` at the end of the wait. */
  async untilGranted(signal: AbortSignal): Promise<Grant | undefined> {
    const { attempts, clock, waitDeadline, ticket } = this.#self;
    let grant = attempts.count > 0 ? undefined : await attempts.one();
    let key = ticket.keys.at(-1)!;
    for (let round = 0; !grant && waitDeadline.left > 0; round++) {
      key = attempts.refusedBy ?? this.#after(key);
      ticket.keep(key);
      if (round >= ticket.keys.length) await sleep(clock, pauseOf(round), signal);
      grant = await this.#from(key, signal);
    }
    return grant;
  }

  /** Waits for `key`, then tries all. `undefined`: one of the others is taken. */
  async #from(key: string, signal: AbortSignal): Promise<Grant | undefined> {
    const { attempts, limits, ticket } = this.#self;
    const first = await this.#one(key, signal);
    if (!first) return undefined;
    const isInFront = ticket.take();
    const grant = isInFront ? await this.#all(first) : undefined;
    if (grant) return grant; // it has `key`, too
    giveBack(first.lease);
    attempts.startAnew();
    if (isInFront) return undefined;
    signal.throwIfAborted();
    await ticket.wait(limits);
    return attempts.one();
  }

  /** Queues again when the handed-off key had expired on arrival. */
  async #one(key: string, signal: AbortSignal): Promise<Grant | undefined> {
    let grant: Grant | undefined;
    while (!grant && this.#self.waitDeadline.left > 0) {
      signal.throwIfAborted();
      grant = await this.#queue.one(key, signal);
    }
    return grant;
  }

  async #all({ lease }: Grant): Promise<Grant | undefined> {
    try {
      return await this.#self.attempts.one();
    } catch (error) {
      giveBack(lease);
      throw error;
    }
  }

  /** Where the refused key is unknown, each is tried in turn: a free one costs a moment. */
  #after(key: string): string {
    const { keys } = this.#self.ticket;
    return keys[(keys.indexOf(key) + 1) % keys.length]!;
  }
}

function pauseOf(round: number): number {
  return Math.random() * Math.min(PAUSE * round, LONGEST_PAUSE);
}
