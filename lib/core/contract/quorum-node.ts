import type { ServerLink } from './server-link.js';

/** The members of a store for another store, which combines several. A store without these members can be a node all the same. */
export interface QuorumNode {
  /** Tells the store that it is a node of another store, which asks several at once. */
  joinQuorum?(): void;
  /** The one server behind this store, where there is one. */
  readonly server?: ServerLink | undefined;
}

/** The members of a node's lease for the store that combines the nodes. */
export interface QuorumLease<L> {
  /**
   * Raises the fencing counters of the keys to `to`: every later grant gets a larger one. Resolves `false`, and changes nothing,
   * when a key is no longer ours or its counter is beyond `from`.
   */
  raiseFencing?(tokens: FencingRange): Promise<boolean>;
  /**
   * As `Lease.handOff`, for a caller that mints its own fencing tokens: the token of the new lease has no meaning. A store that
   * is asked to renew raises its counters as `raiseFencing` does. `undefined` then also means that a counter was beyond `from`: the
   * keys have been given back. Missing: the lease is not handed off.
   */
  handOffRaising?(
    ttl: number,
    renew: boolean,
    tokens: FencingRange,
  ): L | Promise<L | undefined> | undefined;
}

/** A fencing counter that is no larger than `from` becomes `to`. */
export interface FencingRange {
  readonly from: bigint;
  readonly to: bigint;
}
