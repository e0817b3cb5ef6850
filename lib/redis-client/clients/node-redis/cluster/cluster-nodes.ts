import type { ClientMaker } from './node-source.js';
import { NodePort } from './node-port.js';
import { NodeSource } from './node-source.js';
import { addressOfNode, nodeOptions } from '../cluster-client.js';
import type { NodeRedisCluster } from '../cluster-client.js';

/** The connections of ours to the nodes of a Cluster, by their names. */
export class ClusterNodes {
  readonly #given: NodeRedisCluster;
  readonly #clients: ClientMaker;
  readonly #tell: (event: '+node' | '-node', node: NodePort) => void;
  readonly #isEnded: () => boolean;
  readonly #nodes = new Map<string, NodePort>();

  /** No node connects again while `isEnded`. */
  constructor(
    given: NodeRedisCluster,
    clients: ClientMaker,
    tell: (event: '+node' | '-node', node: NodePort) => void,
    isEnded: () => boolean,
  ) {
    this.#given = given;
    this.#clients = clients;
    this.#tell = tell;
    this.#isEnded = isEnded;
  }

  get all(): readonly NodePort[] {
    return [...this.#nodes.values()];
  }

  get(name: string): NodePort | undefined {
    return this.#nodes.get(name);
  }

  /** Made where it is missing. It connects at its first call. */
  at(name: string): NodePort {
    const known = this.#nodes.get(name);
    if (known) return known;
    const options = () => nodeOptions(this.#given, name);
    const isLeft = () => this.#isEnded() || this.#nodes.get(name) !== node;
    const source = new NodeSource(this.#clients, addressOfNode(name), options, isLeft);
    const node: NodePort = new NodePort(source);
    this.#nodes.set(name, node);
    this.#tell('+node', node);
    return node;
  }

  /** Leaves the others, once no call of theirs is under way: slots may be on their way to one that has none yet. */
  keep(names: ReadonlySet<string>): void {
    for (const [name, node] of this.#nodes) {
      if (names.has(name) || node.commandQueue.length > 0) continue;
      this.#nodes.delete(name);
      this.#tell('-node', node);
      node.disconnect();
    }
    for (const name of names) this.at(name);
  }

  /** After the calls under way. */
  async close(): Promise<void> {
    await Promise.all(this.all.map((node) => node.close()));
  }

  end(): void {
    for (const node of this.all) node.disconnect();
  }
}
