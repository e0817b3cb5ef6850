import type { ServerLink } from './server-link.js';

/** What a store that combines others asks of each. A store without these members can be a node all the same. */
export interface QuorumNode {
  /** Tells the store that it is a node of another store, which asks several at once. */
  joinQuorum?(): void;
  /** The one server behind this store, where there is one. */
  readonly server?: ServerLink | undefined;
}

/** What a store that combines others asks of the lease of a node. */
export interface QuorumLease {
  /**
   * Raises the fencing counters of the keys to `to`: every later grant gets a larger one. Resolves `false`, and changes nothing,
   * when a key is no longer ours or its counter is beyond `from`.
   */
  raiseFencing?(tokens: FencingRange): Promise<boolean>;
}

/** A fencing counter that is no larger than `from` becomes `to`. */
export interface FencingRange {
  readonly from: bigint;
  readonly to: bigint;
}
