import type { EvictRequest, HolderAnswer, NamedHolder } from '../../core/contract/lock-store.js';
import type { StoreObservers } from './store-observers.js';

/** How a store takes a key from its holder. */
export interface EvictionSteps {
  /** Whether the named holder has the key. Asks one of another process to stop, where the store can reach it. */
  ask(named: NamedHolder, grace: number): Promise<HolderAnswer>;
  /** Gives the key to the request if the named holder has it. May be called again with the same request. */
  take(request: EvictRequest): Promise<HolderAnswer>;
}

/** Evictions of which the holders of the same store are told. */
export class Evictions {
  readonly #steps: EvictionSteps;
  readonly #observers: StoreObservers;

  constructor(steps: EvictionSteps, observers: StoreObservers) {
    this.#steps = steps;
    this.#observers = observers;
  }

  async ask(named: NamedHolder, grace: number): Promise<HolderAnswer> {
    const answer = await this.#steps.ask(named, grace);
    if (answer.state === 'held') this.#observers.revoke(named, grace);
    return answer;
  }

  async take(request: EvictRequest): Promise<HolderAnswer> {
    const answer = await this.#steps.take(request);
    if (answer.state === 'taken') this.#observers.revoke(request, 0);
    return answer;
  }
}
