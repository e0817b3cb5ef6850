import type { StoreNotice } from '../../../core/lock-store.js';
import type { ServerLink } from '../../../core/server-link.js';
import { isClusterClient } from '../cluster-client.js';
import { ClusterWatch } from '../cluster-failover.js';
import { watchServer } from '../failover.js';
import type { RedisClient } from '../redis-client.js';
import { RedisServerLink, canWatch } from '../server-link.js';
import type { ClockWatch } from './clock-watch.js';
import { watchClocks } from './watch-clocks.js';

/** What a store watches of its servers while it is used, to tell of failovers, restarts, slots that have moved, and clocks that were set. */
export class ServerWatches {
  readonly #client: RedisClient;
  readonly #slotsOf: (keys: readonly string[]) => readonly number[];
  readonly #clusters: ClusterWatch[] = [];
  #clocks: ClockWatch | undefined;
  #link: RedisServerLink | undefined;

  constructor(client: RedisClient, slotsOf: (keys: readonly string[]) => readonly number[]) {
    this.#client = client;
    this.#slotsOf = slotsOf;
  }

  /** Missing on a Cluster, which is many. */
  get server(): ServerLink | undefined {
    if (!this.#link && canWatch(this.#client)) this.#link = new RedisServerLink(this.#client);
    return this.#link;
  }

  observe(tell: (notice: StoreNotice) => void): void {
    this.#clocks?.close();
    this.#clocks = watchClocks(this.#client, this.#slotsOf, tell);
    if (isClusterClient(this.#client))
      this.#clusters.push(new ClusterWatch(this.#client, this.#slotsOf, tell));
    else if (this.server) watchServer(this.server, tell);
  }

  /** A lock may be held for `ttl` ms from now. */
  holds(ttl: number): void {
    this.#clocks?.holds(ttl);
  }

  close(): void {
    this.#link?.close();
    this.#clocks?.close();
    this.#clocks = undefined;
    for (const watch of this.#clusters.splice(0)) watch.close();
  }
}
