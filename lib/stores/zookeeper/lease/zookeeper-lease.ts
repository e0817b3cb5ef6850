import type { Lease } from '../../../core/contract/lock-store.js';
import type { LockNodes } from '../nodes/lock-nodes.js';

/** The lock of a request's nodes. It lives as long as their session. */
export class ZooKeeperLease implements Lease {
  readonly #nodes: LockNodes;

  constructor(nodes: LockNodes) {
    this.#nodes = nodes;
  }

  /** A transaction number of ZooKeeper: these grow over all keys alike. */
  get fencingToken(): bigint | undefined {
    return this.#nodes.fencingToken;
  }

  get lost(): AbortSignal {
    return this.#nodes.lost;
  }

  /** There is nothing to prolong: checks whether the nodes are still there, once there is a connection. */
  extend(): Promise<boolean> {
    return this.#nodes.isThere();
  }

  downgrade(): Promise<boolean> {
    return this.#nodes.downgrade();
  }

  async release(): Promise<boolean> {
    return this.#nodes.isOurs && (await this.#nodes.leave());
  }
}
