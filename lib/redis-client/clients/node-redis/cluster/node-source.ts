import { connectionOptions } from '../node-redis-client.js';
import type { NodeRedisClient } from '../node-redis-client.js';
import type { NodeRedisSource, OpenedClient } from '../source.js';

/** Makes clients with the options of one node. */
export class ClientMaker {
  readonly #template: () => NodeRedisClient;
  #client: NodeRedisClient | undefined;

  /** `template` makes one of the right class. */
  constructor(template: () => NodeRedisClient) {
    this.#template = template;
  }

  make(options: object): OpenedClient {
    this.#client ??= this.#template();
    const client = this.#client.duplicate({ ...options, ...connectionOptions({ options }) });
    return { client, connect: () => client.connect() };
  }
}

/** A node of a Cluster. The Cluster, and not each node, follows the client of the application. */
export class NodeSource implements NodeRedisSource {
  readonly address: NodeRedisSource['address'];
  readonly #clients: ClientMaker;
  readonly #options: () => object;
  readonly #isLeft: () => boolean;

  constructor(
    clients: ClientMaker,
    address: NodeRedisSource['address'],
    options: () => object,
    isLeft: () => boolean = () => false,
  ) {
    this.#clients = clients;
    this.address = address;
    this.#options = options;
    this.#isLeft = isLeft;
  }

  get isOpen(): boolean {
    return !this.#isLeft();
  }

  /** node-redis throws for options that it cannot use. */
  async open(): Promise<OpenedClient> {
    return this.#clients.make(this.#options());
  }

  follow(): () => void {
    return () => undefined;
  }

  close(): void {}
}
