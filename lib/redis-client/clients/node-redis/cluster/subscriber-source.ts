import type { NodeRedisSource, OpenedClient, SourceListener } from '../source.js';
import type { ClientMaker } from './node-source.js';

/** What a subscription needs to know of a Cluster, whose nodes pass each message on to all others. */
export interface Listenable {
  /** Resolves with the names of the masters. */
  masters(): Promise<readonly string[]>;
  isMaster(name: string): boolean;
  optionsOf(name: string): object;
  /** Returns how to stop. */
  onRefresh(listener: () => void): () => void;
}

/** Any master of a Cluster; another one after a failure, and when it is one no more. */
export class SubscriberSource implements NodeRedisSource {
  readonly isOpen = true;
  readonly address = {};
  readonly #cluster: Listenable;
  readonly #clients: ClientMaker;
  /** Where the present connection leads to, or the last one. */
  #name = '';

  constructor(cluster: Listenable, clients: ClientMaker) {
    this.#cluster = cluster;
    this.#clients = clients;
  }

  async open(): Promise<OpenedClient> {
    const masters = await this.#cluster.masters();
    const others = masters.filter((name) => name !== this.#name);
    const choice = others.length > 0 ? others : masters;
    this.#name = choice[Math.floor(Math.random() * choice.length)]!;
    return this.#clients.make(this.#cluster.optionsOf(this.#name));
  }

  follow({ moved }: SourceListener): () => void {
    return this.#cluster.onRefresh(() => {
      if (this.#name === '' || this.#cluster.isMaster(this.#name)) return;
      moved(new Error(`${this.#name} is no master of the Cluster any more`));
    });
  }

  close(): void {}
}
