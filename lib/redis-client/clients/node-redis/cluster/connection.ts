import { EventEmitter, errorMonitor } from 'node:events';
import type { NodeRedisCluster } from '../cluster-client.js';
import {
  mostRedirections,
  nodeOptions,
  rootOptions,
  unconnectedClient,
} from '../cluster-client.js';
import { onEnd } from '../source.js';
import { ClusterNodes } from './cluster-nodes.js';
import type { NodePort } from './node-port.js';
import { ClientMaker } from './node-source.js';
import type { RoutedCluster } from './routes.js';
import { nameIn } from './slot-map.js';
import type { Listenable } from './subscriber-source.js';
import { connectedTeller, otherTeller, shuffled } from './tellers.js';
import type { Teller } from './tellers.js';
import { ClusterTopology } from './topology.js';

type Status = 'wait' | 'connecting' | 'ready' | 'reconnecting' | 'end';

/**
 * Connections of ours to the nodes of a Cluster, with the options of a Cluster client of node-redis, which it leaves alone.
 *
 * Emits `refresh` when the slots have been read, `+node` and `-node` with a node, `ready` when the slots are known after they were
 * not, and `end` when the application closes its client.
 */
export class ClusterConnection extends EventEmitter implements RoutedCluster, Listenable {
  protected readonly clients: ClientMaker;
  protected readonly connections: ClusterNodes;
  readonly #given: NodeRedisCluster;
  readonly #topology = new ClusterTopology(() => this.#tellers());
  #state: 'new' | 'open' | 'ended' | 'closed' = 'new';
  #wasReady = false;
  #stopFollowing: (() => void) | undefined;

  constructor(given: NodeRedisCluster) {
    super();
    this.#given = given;
    this.clients = new ClientMaker(() => unconnectedClient(given));
    const tell = (event: string, node: NodePort) => void this.emit(event, node);
    const isEnded = () => this.#state === 'ended';
    this.connections = new ClusterNodes(given, this.clients, tell, isEnded);
    this.#topology.on('refresh', () => this.#refreshed());
    this.#topology.on('failed', (error: unknown) => this.#failed(error));
  }

  get status(): Status {
    if (this.#state === 'new' || this.#state === 'closed') return 'wait';
    if (this.#state === 'ended') return 'end';
    if (this.#topology.isLost) return 'reconnecting';
    return this.#topology.map ? 'ready' : 'connecting';
  }

  get slots(): readonly (readonly string[] | undefined)[] {
    return this.#topology.map?.slots ?? [];
  }

  get mostRedirections(): number {
    return mostRedirections(this.#given);
  }

  masterOf(slot: number): NodePort | undefined {
    const name = this.slots[slot]?.[0];
    return name === undefined ? undefined : this.connections.get(name);
  }

  nodeAt(answer: string, asked: NodePort): NodePort {
    return this.connections.at(nameIn(answer, asked.options.host ?? 'localhost'));
  }

  moved(slot: number, { options: { host, port } }: NodePort): void {
    if (this.#state === 'open') this.#topology.moved(slot, `${host}:${port}`);
  }

  async refresh(): Promise<void> {
    this.checkOpen();
    await this.#topology.refresh();
  }

  checkOpen(): void {
    if (this.#state === 'ended') throw new Error('the client was closed');
    if (this.#state === 'closed') throw new Error('the store was closed');
  }

  async masters(): Promise<readonly string[]> {
    if (!this.#topology.map) await this.refresh();
    return [...this.#topology.map!.masters];
  }

  isMaster(name: string): boolean {
    return this.#topology.map?.masters.has(name) ?? false;
  }

  optionsOf(name: string): object {
    return nodeOptions(this.#given, name);
  }

  onRefresh(listener: () => void): () => void {
    this.on('refresh', listener);
    return () => this.off('refresh', listener);
  }

  /** For the next call. Throws where the application has closed its client. */
  protected open(): void {
    if (this.#state === 'ended' && this.#given.isOpen) this.#state = 'new';
    if (this.#state === 'ended') this.checkOpen();
    if (this.#state !== 'new') return;
    this.#state = 'open';
    this.#stopFollowing = onEnd(this.#given, () => this.#ended(), 'disconnect');
  }

  /** Calls to known nodes are still made; they are not sent elsewhere any more. */
  protected stop(state: 'ended' | 'closed'): void {
    this.#state = state;
    this.#topology.stop();
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
  }

  #tellers(): Teller[] {
    const names = [...new Set(this.slots.flatMap((nodes) => nodes ?? []))];
    const isReady = (name: string) => this.connections.get(name)?.status === 'ready';
    const [ready, others] = [names.filter(isReady), names.filter((name) => !isReady(name))];
    return [
      ...shuffled(ready).map((name) => connectedTeller(name, this.connections.get(name)!)),
      ...shuffled(others).map((name) => otherTeller(this.clients, this.optionsOf(name))),
      ...shuffled(rootOptions(this.#given)).map((options) => otherTeller(this.clients, options)),
    ];
  }

  #refreshed(): void {
    if (this.#state !== 'open') return;
    this.connections.keep(this.#topology.map!.masters);
    this.emit('refresh');
    if (!this.#wasReady) this.emit('ready');
    this.#wasReady = true;
  }

  #failed(error: unknown): void {
    this.#wasReady = false;
    this.emit(errorMonitor, error);
  }

  #ended(): void {
    this.stop('ended');
    this.connections.end();
    this.emit('end');
  }
}
