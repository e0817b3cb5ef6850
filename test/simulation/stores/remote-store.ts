import type { AcquireRequest, Lease, LockStore } from '../../../lib/core/contract/lock-store.js';
import type { Machine } from '../world/machine.js';
import type { Network } from '../world/network.js';

/** A store on another machine, behind a network that answers late, twice or never. Its callers poll. */
export class RemoteStore implements LockStore {
  readonly name = 'remote';
  readonly supports: LockStore['supports'];
  readonly #store: LockStore;
  readonly #network: Network;
  readonly #client: Machine;
  readonly #server: Machine;

  constructor(store: LockStore, network: Network, client: Machine, server: Machine) {
    this.#store = store;
    const { queuesManyKeys: _, ...supports } = store.supports;
    this.supports = supports;
    this.#network = network;
    this.#client = client;
    this.#server = server;
  }

  /** The most attempts within a second. */
  mostAttempts = 0;
  readonly #attempts: number[] = [];

  async tryAcquire(request: AcquireRequest): Promise<Lease | undefined> {
    this.#count();
    const what = `acquire ${request.keys.join('+')}`;
    const lease = await this.#ask(what, () => this.#store.tryAcquire(request));
    return lease && this.#remote(lease, request.keys);
  }

  #count(): void {
    const now = this.#network.now;
    this.#attempts.push(now);
    while (this.#attempts[0]! < now - 1_000) this.#attempts.shift();
    this.mostAttempts = Math.max(this.mostAttempts, this.#attempts.length);
  }

  #remote(lease: Lease, keys: readonly string[]): Lease {
    const names = keys.join('+');
    return {
      fencingToken: lease.fencingToken,
      extend: (ttl) => this.#ask(`extend ${names}`, () => lease.extend(ttl)),
      release: () => this.#ask(`release ${names}`, () => lease.release()),
    };
  }

  /** Settles with the first answer that arrives, if one does. */
  #ask<T>(what: string, does: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (text: string, settle: () => void) =>
        this.#network.send(
          this.#client,
          this.#client,
          `${what} of ${this.#client.name}: ${text}`,
          settle,
        );
      this.#network.send(this.#client, this.#server, `${what} of ${this.#client.name}`, () => {
        does().then(
          (value) => answer('answer', () => resolve(value)),
          (error: unknown) => answer('error', () => reject(error)),
        );
      });
    });
  }
}
