import { sleep } from '../async/sleep.js';
import type { Grant } from '../store/grant.js';
import { waitFor } from '../store/many-keys.js';
import { KeyByKey } from './key-by-key.js';
import type { Contender } from './key-by-key.js';
import { QueueAttempts } from './queue-attempts.js';

/** A caller at the front of its process while others have a key: it waits in the store's queue, or polls. */
export class Contention {
  readonly #self: Contender;

  constructor(self: Contender) {
    this.#self = self;
  }

  /** Resolves `undefined` at the end of the wait, and rejects with what ended it early. */
  untilGranted(): Promise<Grant | undefined> {
    const { store, ticket, waitDeadline, attempts, limits } = this.#self;
    const way = waitFor(store, ticket);
    if (way === 'polls') return waitDeadline.during((signal) => this.#poll(signal));
    const wait = (signal: AbortSignal) =>
      way === 'queues' ? this.#queue(signal) : new KeyByKey(this.#self).untilGranted(signal);
    return waitDeadline.untilDeadline(wait, attempts, limits.timers);
  }

  async #poll(signal: AbortSignal): Promise<Grant | undefined> {
    const { attempts, waitDeadline } = this.#self;
    while (attempts.count <= waitDeadline.options.retryCount && waitDeadline.left > 0) {
      if (attempts.count > 0) await this.#pause(signal);
      signal.throwIfAborted();
      const grant = await attempts.one();
      if (grant) return grant;
    }
    return undefined;
  }

  /** Awaits one of several keys; the others are left to the callers behind. */
  async #pause(signal: AbortSignal): Promise<void> {
    const { attempts, clock, limits, waitDeadline, ticket } = this.#self;
    if (ticket.keys.length > 1) ticket.keep(attempts.refusedBy);
    await sleep(clock, waitDeadline.pause, signal);
    if (ticket.take()) return;
    signal.throwIfAborted();
    await ticket.wait(limits);
  }

  async #queue(signal: AbortSignal): Promise<Grant | undefined> {
    const { attempts, clock, waitDeadline, store } = this.#self;
    const queue = new QueueAttempts(store, clock, attempts);
    while (waitDeadline.left > 0) {
      signal.throwIfAborted();
      const grant = await queue.all(signal);
      if (grant) return grant;
    }
    return undefined;
  }
}
