import type { QuorumReport, StoreNotice } from './contract/store-notices.js';
import type { ServerLink } from './server-link.js';

export type {
  NodeNotice,
  NodeReport,
  QuorumReport,
  StoreDoubt,
  StoreNotice,
} from './contract/store-notices.js';

/**
 * The contract between core and the systems that keep locks.
 *
 * `undefined` means "someone else holds it", a rejection means "something is wrong": never both, never `null` or `false`.
 * Time lives in core: a store neither waits nor measures, it answers one question at a time.
 */
export interface LockStore {
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
   * Waits for one key in the store's own queue, where it has one. Several keys as `supports` says; other stores are polled. Called when
   * `tryAcquire` answered `undefined`, or when the key was in use before.
   *
   * Rejects with `signal.reason`, and leaves nothing behind, once `signal` aborts. Where `supports.ttl`, the lease is a
   * claim: core turns it into a full ttl with one `extend`, so that its validity counts from before a request was sent.
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
  /** Who holds the key, without taking anything. Resolves `undefined` when it is free. */
  inspect?(key: string): Promise<LockInspection | undefined>;
  /**
   * Why nobody knows who has the key of a request that waits in `acquire`: the last failure, as long as the store has not been
   * answered since. Read when the wait comes to its deadline, which then is no `LockTimeoutError`. Missing: core asks `inspect` a
   * second before, and an error, or no answer by then, is why.
   */
  waitFailure?(request: AcquireRequest): unknown;
  /** How the last attempt for this request went, for stores that ask several nodes. Read for error messages. */
  report?(request: AcquireRequest): QuorumReport | undefined;
  /**
   * Calls `tell` whenever something happens that nobody asked for. Called before anything else, once for
   * all `LockService`s that use the store at the same time.
   */
  observe?(tell: (notice: StoreNotice) => void): void;
  /** This store is a node of another one, which asks several at once. */
  amongOthers?(): void;
  /** The one server behind this store, where there is one: for stores that are made of others. */
  readonly server?: ServerLink | undefined;
  /** Called with the last `LockService` that uses the store: frees what it opened. A client that was handed in stays open. */
  close?(): Promise<void>;
}

export interface LockStoreFeatures {
  /** Every grant of a key carries a larger `fencingToken` than all before it. */
  readonly fencing: boolean;
  /**
   * `false`: the tokens are numbers of the server's own (a transaction id, a revision) that grow over all keys alike, so no
   * request can raise them. Locks of several keys then have one only where `manyKeys` is set, and all keys are taken in one
   * step. Missing: each key has a counter, which `AcquireRequest.fencingFloor` raises.
   */
  readonly fencingFloor?: false;
  /** A key frees itself when its ttl has passed. `false`: it lives as long as a session, which `Lease.lost` reports. */
  readonly ttl: boolean;
  /** One request may name several keys, taken all or none. `false` or missing: core takes them one by one, in order. */
  readonly manyKeys?: boolean;
  /**
   * `true`: `acquire` lines up every caller, those of one process and those of several keys included, so core keeps no line
   * in front of it. Missing: core sends one caller per process and key.
   */
  readonly ownLine?: boolean;
  /**
   * Whoever wants several keys stands in the queue of one that was refused: what `acquire` handed over, and `extend` confirmed, is
   * granted again by a `tryAcquire` of the same token for all of them, whoever waits behind. Missing: core polls for several keys.
   */
  readonly manyKeysInLine?: true;
  /** Requests may be for readers (`permits: Infinity`), who share a key. Missing: refused by core. */
  readonly readLocks?: true;
  /**
   * Requests may be for a number of permits. `'polled'`: whoever waits for one does not stand in line in `acquire`, so core
   * asks again and again, and nobody is kept from overtaking. Missing: refused by core.
   */
  readonly semaphores?: true | 'polled';
  /** Why holders cannot be counted here, for the refusal of semaphores and read locks. */
  readonly cannotCount?: string;
  /** `false`: every key is granted to everybody, so nobody has to wait. For tests of what runs under a lock. */
  readonly exclusive?: boolean;
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
   * How many may hold the keys at the same time, this one included, each with a token and a time to live of its own.
   * Missing: one, who excludes everybody else. `Infinity`: readers.
   *
   * One who shares is refused while an exclusive holder has a key, while all permits are taken, and while somebody waits in
   * the store's queue; an exclusive one while anybody shares it. A key that is held or awaited with other permits rejects with
   * `LockPermitsError`.
   */
  readonly permits?: number | undefined;
  /** `host:pid:startTime`, kept beside the token for people who inspect. Never decides ownership. */
  readonly holder?: string;
  /** Milliseconds for one answer, for a store that asks its server more than once in `acquire`. */
  readonly storeTimeout?: number | undefined;
  /**
   * The key's fencing counter is raised to at least this. It stands in for whatever clock the store itself would go by. Comes
   * with `tryAcquire` only.
   */
  readonly fencingFloor?: bigint;
}

/** A store's grant of its keys to one token. */
export interface Lease {
  /**
   * Grows with every grant of the key. Present when the store declares `supports.fencing`; of a claim, once it was extended.
   * Those who share a key have none: the newest of them must not shut out the others.
   */
  readonly fencingToken?: bigint | undefined;
  /** Aborts when the store itself learns that the grant is gone (a closed session, say). */
  readonly lost?: AbortSignal | undefined;
  /** Sets the time to live to `ttl` ms from now. Resolves `false` when a key is no longer ours; core then releases the others. */
  extend(ttl: number): Promise<boolean>;
  /**
   * Resolves `false` when a key was no longer ours. Must never free another holder's key. A store that sends commands again after a
   * reconnect may find that an answer of `false` says nothing. It asks `isValid` then, where that is given, whether the lease cannot
   * have ended by its ttl, and rejects where it does not know.
   */
  release(isValid?: () => boolean): Promise<boolean>;
  /**
   * Passes the keys on to the next holder in the same process, with a larger fencing token. Called when this holder is
   * done with them, instead of `release`.
   *
   * A lease at once: the store needs not be asked, and the time to live goes on. A promise: the store is asked, for `ttl`
   * ms from now, and `undefined` says that a key was no longer ours. It is asked in any case when `renew` is set.
   * Nothing at once: other processes are first, and the lease is to be released.
   *
   * Stores without this method see a release and a new attempt. `tokens` come from a store that is made of others, and has
   * fencing tokens of its own: a store that is asked to renew raises its counter by them, as in `raiseFencing`, and the token
   * of the lease says nothing. `undefined` says then also that the counter was beyond them: the keys have been given back.
   */
  passOn?(
    ttl: number,
    renew: boolean,
    tokens?: FencingRange,
  ): Lease | Promise<Lease | undefined> | undefined;
  /**
   * Makes an exclusive lease that of a reader, without a moment in which nobody holds the keys, and lets readers in who wait
   * first in line. The time to live goes on. Resolves `false` when a key is no longer ours. Missing: core refuses.
   */
  downgrade?(): Promise<boolean>;
  /**
   * Raises the fencing counters of the keys to `to`: every later grant gets a larger one. Resolves `false`, and changes
   * nothing, when a key is no longer ours or its counter is beyond `from`. For stores that are made of others.
   */
  raiseFencing?(tokens: FencingRange): Promise<boolean>;
}

/** A fencing counter that is no larger than `from` becomes `to`. */
export interface FencingRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** What a store knows of a held key. Fields that it does not know, or that a foreign holder did not leave, are missing. */
export interface LockInspection {
  readonly key: string;
  /** `host:pid:startTime` of the process that holds the key. */
  readonly holder?: string | undefined;
  /** Of a key that is shared: how many may hold it at the same time, `Infinity` for readers. */
  readonly permits?: number | undefined;
  /** Of a key that is shared: everybody who holds it, as in `holder`, in the order in which they came where the store knows it. */
  readonly holders?: readonly string[] | undefined;
  /** Milliseconds until the key frees itself unless extended. Of one that is shared, until the last of them is gone. */
  readonly remaining?: number | undefined;
  /** An upper bound: none that the holder, and those of its process who have the lock after it, may use is larger. */
  readonly fencingToken?: bigint | undefined;
}
