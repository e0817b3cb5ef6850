import type { EvictingStore } from './eviction.js';
import type { LockInspection, LockListQuery, LockPage } from './lock-inspection.js';
import type { LockStoreFeatures } from './lock-store-features.js';
import type {
  LockNode,
  NodeCount,
  QuorumReport,
  StoreNotice,
  StoreWarning,
} from './store-notices.js';
import type { QuorumLease, QuorumNode } from './quorum-node.js';

export type {
  EvictingStore,
  EvictRequest,
  HolderAnswer,
  NamedHolder,
  StoreRevocation,
  TakenKey,
} from './eviction.js';
export type { LockInspection, LockListQuery, LockPage } from './lock-inspection.js';
export type { LockStoreFeatures } from './lock-store-features.js';
export type { FencingRange } from './quorum-node.js';
export type {
  LockNode,
  NodeCount,
  NodeNotice,
  NodeReport,
  QuorumReport,
  StoreDoubt,
  StoreNotice,
  StoreWarning,
} from './store-notices.js';

/**
 * The contract between core and the systems that keep locks.
 *
 * `undefined` means "another caller holds it", a rejection means "something is wrong": never both, never `null` or `false`.
 * Time lives in core: a store neither waits nor measures, it answers one question at a time.
 */
export interface LockStore extends QuorumNode, EvictingStore {
  /** For log lines and error messages: `redis`, `sql`, `zookeeper`. */
  readonly name: string;
  /** Declared as data; the conformance suite holds the store to it. */
  readonly supports: LockStoreFeatures;
  /**
   * Makes ONE attempt. Resolves `undefined` when another token holds a key.
   *
   * Idempotent per token: a key that already carries this token is granted again. An attempt that rejects must be
   * followed, by the store, by a compare-and-delete of its token. A lease that arrives after the caller gave up is
   * released by core.
   */
  tryAcquire(request: AcquireRequest): Promise<Lease | undefined>;
  /**
   * Waits for one key in the store's own queue, where it has one. Several keys as `supports` says; other stores are polled.
   * Called after `tryAcquire` resolved `undefined`, or when the key was in use before.
   *
   * Rejects with `signal.reason`, and leaves nothing behind, once `signal` aborts. Where `supports.ttl`, the lease is a claim:
   * core turns it into a full ttl with one `extend`, so that its validity counts from before a request was sent, unless
   * `Lease.claim` says that it is one already.
   */
  acquire?(request: AcquireRequest, signal: AbortSignal): Promise<Lease>;
  /**
   * Extends many leases of this store by one question: as `Lease.extend` for each of them, with the same `ttl`. Resolves with
   * the exceptions only: `false` = a key is no longer ours, else the error. No lease fails because another one does.
   *
   * The answer comes when that of the slowest lease does, so a store whose leases live in places that may hang apart leaves it
   * out. Missing: core calls `Lease.extend` for each.
   */
  extendMany?(leases: readonly Lease[], ttl: number): Promise<ReadonlyMap<Lease, unknown>>;
  /** The holder of the key; takes nothing. Resolves `undefined` when it is free. */
  inspect?(key: string): Promise<LockInspection | undefined>;
  /**
   * The held keys, page by page; takes nothing. A key that is held all the time appears at least once, one that is taken or freed
   * meanwhile may be missing, and one may appear twice. Missing: the store cannot list.
   */
  list?(query: LockListQuery): Promise<LockPage>;
  /**
   * Why the holder is unknown for a request that waits in `acquire`: the last failure, until the store is answered again. Read
   * at the deadline of the wait, which then is no `LockTimeoutError`. Missing: core calls `inspect` a second before, and takes
   * its error, or its missing answer, as the reason.
   */
  waitFailure?(request: AcquireRequest): unknown;
  /**
   * A request that waits in `acquire` reaches its deadline in a second: the store asks its server for a sign of life, so that
   * `waitFailure` knows by then. Missing: `waitFailure` says what it knows.
   */
  beforeDeadline?(request: AcquireRequest): void;
  /**
   * Why there is no connection to the server: the last error of a client that goes on trying. `undefined` while there is one, or
   * the first is made. `silent`: a call has had no answer, perhaps from one server of several. Read for error messages; one attempt
   * fails with it at once. Missing: a call rejects with it, or nothing is known.
   */
  connectionFailure?(silent: boolean): unknown;
  /**
   * Of several keys, one that another caller had at the last attempt of this request. Called after `tryAcquire` resolved
   * `undefined`.
   */
  refusedKey?(request: AcquireRequest): string | undefined;
  /** The node answers of this request's last attempt, for stores with several nodes. Read for error messages. */
  report?(request: AcquireRequest): QuorumReport | undefined;
  /**
   * Calls `tell` for every unsolicited event of the store. Called before anything else, once for all `LockService`s that use the
   * store at the same time.
   */
  observe?(tell: (notice: StoreNotice) => void): void;
  /**
   * Looks for settings of its servers that may lose locks, and calls `tell` once for each. Returns at once, and delays no lock.
   * Called with the first use.
   */
  checkServers?(tell: (warning: StoreWarning) => void): void;
  /** Of a store that has several nodes: how many answer now, and have a vote. Takes nothing. For health. */
  countNodes?(): Promise<NodeCount>;
  /** Of a store that has several nodes: each of them, as far as it is known without a question. */
  nodes?(): readonly LockNode[];
  /**
   * Called with the last `LockService` that uses the store: closes the resources that it opened. A client that was handed in
   * stays open.
   */
  close?(): Promise<void>;
}

export interface AcquireRequest {
  /** The key, or the first of several. */
  readonly key: string;
  /** All keys: at least one, no duplicates, in canonical order. More than one only where `supports.manyKeys`. */
  readonly keys: readonly string[];
  /** Random proof of ownership, new for every acquisition. */
  readonly token: string;
  /** Milliseconds the store keeps the key. */
  readonly ttl: number;
  /**
   * Maximum number of holders at the same time, this one included, each with its own token and ttl. Missing: exclusive.
   * `Infinity`: readers.
   *
   * A sharer is refused while a key has an exclusive holder, while all permits are taken, and while the store's queue has a
   * waiter. An exclusive request is refused while a key has a sharer. A key that is held or awaited with other permits rejects
   * with `LockPermitsError`.
   */
  readonly permits?: number | undefined;
  /** `host:pid:startTime`, stored beside the token for inspection. Never decides ownership. */
  readonly holder?: string;
  /** Milliseconds for one answer, for a store that asks its server more than once in `acquire`. */
  readonly storeTimeout?: number | undefined;
  /** The key's fencing counter is raised to at least this. It replaces the store's own clock. Comes with `tryAcquire` only. */
  readonly fencingFloor?: bigint;
}

/** The answer to a hand-off: a lease, a promise of one, or nothing. */
export type HandedOffLease = Lease | Promise<Lease | undefined> | undefined;

/** A store's grant of its keys to one token. */
export interface Lease extends QuorumLease<Lease> {
  /**
   * Grows with every grant of the key. Present when the store declares `supports.fencing`; of a claim, once it was extended.
   * Sharers have none: the newest must not shut out the others.
   */
  readonly fencingToken?: bigint | undefined;
  /**
   * Of a lease from `acquire`: the store has given the keys for `ttl` ms already, by an answer to a request that was sent `age` ms
   * ago at the time of reading. Missing, or with another ttl than requested: core extends the lease before it hands it out.
   */
  readonly claim?: { readonly age: number; readonly ttl: number } | undefined;
  /** Aborts when the store itself learns that the grant is gone (a closed session, say). */
  readonly lost?: AbortSignal | undefined;
  /** Sets the time to live to `ttl` ms from now. Resolves `false` when a key is no longer ours; core then releases the others. */
  extend(ttl: number): Promise<boolean>;
  /**
   * Resolves `false` when a key was no longer ours. Must never free another holder's key. After a reconnect a store may have
   * sent the command twice, and an answer of `false` is ambiguous. It then calls `isValid`, where given: whether the lease
   * cannot have ended by its ttl. It rejects where it does not know.
   */
  release(isValid?: () => boolean): Promise<boolean>;
  /**
   * Hands the keys to the next caller in the same process, with a larger fencing token. Called instead of `release` when the
   * holder is done and such a caller waits.
   *
   * Returns a lease at once: the store need not be asked, and the ttl goes on. Returns a promise: the store is asked, for `ttl`
   * ms from now, and `undefined` means that a key was no longer ours. The store is always asked when `renew` is set. Returns
   * nothing at once: other processes are first, and core releases the lease.
   *
   * Stores without this method see a release and a new attempt.
   */
  handOff?(ttl: number, renew: boolean): HandedOffLease;
  /**
   * The holder was asked to stop: the keys stay taken for `ms` more, and the store knows which token its holder has. Resolves
   * `false` when a key is no longer ours. Missing: core extends the lease.
   */
  retire?(ms: number): Promise<boolean>;
  /**
   * Turns an exclusive lease into a reader's, without a moment in which the keys are free, and admits the readers at the head of
   * the queue. The ttl goes on. Resolves `false` when a key is no longer ours. Missing: core refuses.
   */
  downgrade?(): Promise<boolean>;
}
