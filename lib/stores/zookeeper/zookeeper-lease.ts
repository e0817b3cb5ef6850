import type { Lease } from '../../core/lock-store.js';
import type { LockNode } from './lock-node.js';

/** The lock of one node, which lives as long as the node's session. */
export class ZooKeeperLease implements Lease {
  readonly #node: LockNode;

  constructor(node: LockNode) {
    this.#node = node;
  }

  /** The transaction that created the node (`czxid`): these numbers grow over all keys alike. */
  get fencingToken(): bigint {
    return this.#node.czxid;
  }

  get lost(): AbortSignal {
    return this.#node.lost;
  }

  /** There is nothing to prolong: finds out whether the node is still there, once there is a connection. */
  extend(): Promise<boolean> {
    return this.#node.isThere();
  }

  async release(): Promise<boolean> {
    return this.#node.isOurs && (await this.#node.leave());
  }
}
