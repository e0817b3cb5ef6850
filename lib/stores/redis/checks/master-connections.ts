import { makeRoom } from '../../../core/async/emitter-room.js';
import { inRootContext } from '../../../core/async/root-context.js';
import { isClusterClient, nodeName } from '../../../redis-client/cluster-client.js';
import type { ClusterClient, ClusterNodeClient } from '../../../redis-client/cluster-client.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';
import { addressOf, canWatch } from '../failover/server-link.js';
import type { WatchableClient } from '../failover/server-link.js';

/** Called with the connection to a master and its address, each time that the connection is ready. */
type Ready = (client: WatchableClient, address: string) => void;

/** A client's connections to masters: one, or those of a Cluster. A client without events has none. */
export class MasterConnections {
  readonly #ready: Ready;
  /** How to stop watching each connection. */
  readonly #watched = new Map<object, () => void>();

  constructor(client: RedisClient, ready: Ready) {
    this.#ready = ready;
    if (isClusterClient(client)) this.#watchCluster(client);
    else if (canWatch(client)) this.#watch(client, addressOf(client));
  }

  close(): void {
    for (const stop of this.#watched.values()) stop();
    this.#watched.clear();
  }

  /** A replica that is promoted is a master from the next reading of the slots on. */
  #watchCluster(client: ClusterClient): void {
    const look = () => {
      for (const node of client.nodes('master')) if (canWatch(node)) this.#watch(node, nodeName(node)); // prettier-ignore
    };
    const forget = (node: ClusterNodeClient) => {
      this.#watched.get(node)?.();
      this.#watched.delete(node);
    };
    makeRoom(client, 1);
    client.on('+node', look);
    client.on('refresh', look);
    client.on('-node', forget);
    this.#watched.set(client, () => {
      makeRoom(client, -1);
      client.off('+node', look);
      client.off('refresh', look);
      client.off('-node', forget);
    });
    look();
  }

  #watch(client: WatchableClient, address: string): void {
    if (this.#watched.has(client)) return;
    const ready = () => inRootContext(() => this.#ready(client, address));
    makeRoom(client, 1);
    client.on('ready', ready);
    this.#watched.set(client, () => {
      makeRoom(client, -1);
      client.off('ready', ready);
    });
    if (client.status === 'ready') ready();
  }
}
