/** The holder of a key, as an eviction names it. */
export interface NamedHolder {
  readonly key: string;
  /** That of the holder, or what `LockInspection.fencingToken` said while it held the key. */
  readonly fencingToken: bigint;
}

/** A store's answer about a named holder. */
export interface HolderAnswer {
  /**
   * - `held`: it holds the key
   * - `taken`: the key was taken from it
   * - `other`: it holds the key no more, or never did; another caller may
   * - `unconfirmed`: the present holder has not answered, and without its answer the store cannot tell whether it is the named one
   * - `shared`: sharers hold the key, which have no token
   */
  readonly state: 'held' | 'taken' | 'other' | 'unconfirmed' | 'shared';
  /** The present holder, or that before the eviction: `host:pid:startTime`. */
  readonly holder?: string | undefined;
  /** The `token` of its request. `RedlockStore` finds one holder at several nodes by it. */
  readonly owner?: string | undefined;
  /** An upper bound of its token, where the store knows one. */
  readonly fencingToken?: bigint | undefined;
  /** With `taken`: the grant to the request. */
  readonly taken?: TakenKey | undefined;
}

/** The grant to an `EvictRequest`. */
export interface TakenKey {
  /** Larger than any token that the holder, or a caller that it hands the key off to, could use. */
  readonly fencingToken?: bigint | undefined;
  /** As `Lease.release`: hands the key to the next waiter. */
  release(): Promise<boolean>;
}

/** An `AcquireRequest` for the one key of a named holder. */
export interface EvictRequest extends NamedHolder {
  readonly keys: readonly string[];
  readonly token: string;
  /** Milliseconds the store keeps the key for the request. */
  readonly ttl: number;
  readonly holder?: string;
}

/** A store that can take a key from its holder. It has both methods. */
export interface EvictingStore {
  /**
   * Tells the holder, where its process can be reached, to stop within `grace` ms: its store reports a `StoreRevocation`. Takes
   * nothing. Core repeats it, as a look whether the holder is still there.
   */
  askHolder?(named: NamedHolder, grace: number): Promise<HolderAnswer>;
  /**
   * Gives the key to the request, in one step, if the named holder has it: no other caller is between them. Every later token is
   * larger than that of `TakenKey`. Idempotent per owner token. Core releases the key at once.
   */
  evict?(request: EvictRequest): Promise<HolderAnswer>;
}

/** A holder in this process was asked to stop, or has lost the key. Core ends its lease with the reason `revoked`. */
export interface StoreRevocation {
  readonly type: 'revoked';
  readonly key: string;
  /** The largest token of the leases that are meant. */
  readonly upTo: bigint;
  /** Milliseconds for which the key is still the holder's, so that its work can end. `0`: it was taken. */
  readonly grace: number;
}
