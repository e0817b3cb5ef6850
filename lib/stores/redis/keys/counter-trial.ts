import { reasonOf } from '../../../core/contract/safe-error.js';
import type { ServerKeys } from './server-keys.js';

/**
 * Finds out with the first lock whether its fencing counter may be in another slot. A server in a Cluster refuses that, also to
 * a client that does not know of the Cluster: each lock has its own counter then.
 */
export class CounterTrial {
  readonly #keys: ServerKeys;
  isOver = false;

  constructor(keys: ServerKeys) {
    this.#keys = keys;
  }

  /** `ask` names the keys anew each time. */
  run<T>(ask: () => Promise<T>): Promise<T> {
    return this.isOver ? ask() : this.#try(ask);
  }

  async #try<T>(ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask();
      this.isOver = true;
      return answer;
    } catch (error) {
      if (!/\bCROSSSLOT\b/.test(reasonOf(error))) throw error;
      this.isOver = true;
      this.#keys.countEach();
      return ask();
    }
  }
}
