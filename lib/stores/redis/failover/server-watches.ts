import type { StoreNotice } from '../../../core/contract/lock-store.js';
import { isClusterClient } from '../../../redis-client/cluster-client.js';
import { ClusterWatch } from './cluster-watch.js';
import { watchServer } from './server-watch.js';
import { ConnectionFailure } from '../../../redis-client/connection-failure.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';
import { RedisServerLink, canWatch } from './server-link.js';
import type { ClockWatch } from '../../../core/store/clock-watch.js';
import type { Connected, WatchedWay } from './sent-again.js';
import { watchClocks } from './watch-clocks.js';

/** A store's watch over its servers while the store is used: failovers, restarts, moved slots, and clocks that were set. */
export class ServerWatches implements WatchedWay {
  readonly #client: RedisClient;
  readonly #slotsOf: (keys: readonly string[]) => readonly number[];
  readonly #clusters: ClusterWatch[] = [];
  readonly #connection: ConnectionFailure;
  /** Made by `observe`: only its caller is told of clocks that were set. */
  clocks: ClockWatch | undefined;
  /** Made by the first look at `server`. */
  link: RedisServerLink | undefined;

  constructor(client: RedisClient, slotsOf: (keys: readonly string[]) => readonly number[]) {
    this.#client = client;
    this.#slotsOf = slotsOf;
    this.#connection = new ConnectionFailure(client);
  }

  get connectionFailure(): (silent: boolean) => unknown {
    return this.#connection.reason;
  }

  /** Missing on a Cluster, which has several. */
  get server(): RedisServerLink | undefined {
    if (!this.link && canWatch(this.#client)) this.link = new RedisServerLink(this.#client);
    return this.link;
  }

  /** On a Cluster known while it is observed. A client without events has another stream after a reconnect. */
  get connected(): Connected {
    const { server } = this;
    if (server) return server;
    if (!this.#client.isCluster) return { losses: this.#client.stream };
    return { losses: this.#clusters.reduce((sum, { losses }) => sum + losses, 0) };
  }

  async readRunId(): Promise<string | undefined> {
    return (await this.link?.vitals())?.runId;
  }

  observe(tell: (notice: StoreNotice) => void): void {
    this.#connection.listen();
    this.clocks?.close();
    this.clocks = watchClocks(this.#client, this.#slotsOf, tell);
    if (isClusterClient(this.#client))
      this.#clusters.push(new ClusterWatch(this.#client, this.#slotsOf, tell));
    else if (this.server) watchServer(this.server, tell);
  }

  close(): void {
    this.#connection.close();
    this.link?.close();
    this.clocks?.close();
    this.clocks = undefined;
    for (const watch of this.#clusters.splice(0)) watch.close();
  }
}
