/*
 * The contract between the server of the live page and the page in the browser. All URLs are relative to the page's `<base href>`.
 * Keys are in the query or the body, never in the path.
 */

/** Query of `api/events` and `api/snapshot`. The server filters. An empty value is none. */
export interface SnapshotQuery {
  /** Locks whose key, name or holder contains this text, in upper or lower case. */
  readonly search?: string | undefined;
  readonly state?: LockRow['state'] | undefined;
  /** `LockOptions.name`. */
  readonly name?: string | undefined;
  /** Asks for `Snapshot.detail`. The filters do not apply to it. */
  readonly key?: string | undefined;
}

/** Data of the event `snapshot` of `api/events`, and answer of `api/snapshot`. */
export interface Snapshot {
  /** Milliseconds since 1970, by the clock of the server. */
  readonly at: number;
  /** Milliseconds between two rounds of the sampler. At least 2,000. */
  readonly every: number;
  /** `LockStore.name`. */
  readonly store: string;
  /** This process: `host:pid:startTime`. */
  readonly reader: string;
  /** The actions that the server allows. */
  readonly actions: readonly LockAction[];
  /** `false`: the store cannot list its locks, and only those of this process are shown. */
  readonly canList: boolean;
  /** Number of locks that are known and pass the filter. `locks` has the first 200 of them. */
  readonly total: number;
  /** `false`: the store has more locks than the server reads in one round, or not all of it could be read. */
  readonly isComplete: boolean;
  /** The round goes on: this is what it has found so far. */
  readonly isReading: boolean;
  /** Why the store was not read in this round, in words, without a secret. Locks of this process are shown all the same. */
  readonly failure?: string | undefined;
  /** The most urgent first: in jeopardy, overdue, then those that are held longest. */
  readonly locks: readonly LockRow[];
  /** With `key=`: that lock, with at most 100 waiters. `null`: it is free. */
  readonly detail?: LockRow | null | undefined;
  /** Of a store that has several nodes; empty for others. */
  readonly nodes: readonly StoreNode[];
  /** Names of locks, for the filter. */
  readonly names: readonly string[];
  readonly charts: Charts;
}

export type LockAction = 'release';

/** A held key. */
export interface LockRow {
  readonly key: string;
  /** `LockOptions.name`. Known where this process holds the lock, or waits for it. */
  readonly name?: string | undefined;
  readonly mode: 'write' | 'read' | 'permits';
  /** Maximum number of holders. Missing: exclusive. */
  readonly permits?: number | 'unlimited' | undefined;
  readonly holders: readonly Process[];
  readonly state: 'held' | 'jeopardy' | 'overdue';
  /** A `LockService` of this process holds it: only then `state` is known, and `held` for others. */
  readonly isLocal: boolean;
  /** Milliseconds since the grant, at least. */
  readonly heldFor?: number | undefined;
  /** Milliseconds until the key frees itself unless extended. */
  readonly remaining?: number | undefined;
  /** A decimal number: it may be too large for a `number`. */
  readonly fencingToken?: string | undefined;
  /** Waiters in the store's queue, or callers of this process, whichever is known to be more. */
  readonly waiterCount?: number | undefined;
  /** The first of them, in order. */
  readonly waiters: readonly Process[];
}

export interface Process {
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  /** Start of the process, in milliseconds since 1970. */
  readonly since?: number | undefined;
  /** As the store has it, `host:pid:startTime` for processes of this library. */
  readonly text: string;
}

export interface StoreNode {
  readonly name: string;
  /** `up`, `suspended`, `quarantined` or `disconnected`. */
  readonly state: string;
}

/** The last 10 minutes of this process, one point for every 5 s. */
export interface Charts {
  /** Seconds since 1970, the oldest first. */
  readonly times: readonly number[];
  /** At most 20, and `others`. */
  readonly series: readonly ChartSeries[];
}

/** One value for each of `Charts.times`. */
export interface ChartSeries {
  /** `LockOptions.name`; `''`: locks without one. */
  readonly name: string;
  /** Of those of which no more than 20 have a series of their own, together. */
  readonly isOthers: boolean;
  /** A second. */
  readonly grants: readonly number[];
  /** A second: calls that ended without a lock, because another caller has it. */
  readonly refusals: readonly number[];
  /** Milliseconds from the call to the grant. `null`: no grant. */
  readonly waitP50: readonly (number | null)[];
  readonly waitP99: readonly (number | null)[];
}

/** Body of `POST api/release`. */
export interface ReleaseRequest {
  readonly key: string;
  /** That of the holder to evict: `LockRow.fencingToken`. */
  readonly fencingToken: string;
  readonly reason?: string | undefined;
}

/** Answer 200 of `POST api/release`. It may take 10 s, for which the holder may end its work. */
export interface ReleaseAnswer {
  /** The key was taken from the named holder, or the holder has released it. */
  readonly released: boolean;
  /**
   * - `taken`: the key was taken from the holder
   * - `released`: the holder was asked, and has released the key
   * - `not-held`: the token is not that of the holder any more: another one has the key by now, or it is free
   * - `unconfirmed`: the holder's process does not answer, and the store cannot tell whether the token is its own. `tokenBefore` is:
   *   to evict it nevertheless, name that
   */
  readonly outcome: 'taken' | 'released' | 'not-held' | 'unconfirmed';
  /** The holder; with `not-held`, the one that has the key now. */
  readonly holder?: Process | undefined;
  /** An upper bound of its token. */
  readonly tokenBefore?: string | undefined;
  /** With `taken`: larger than every token that the holder could use. */
  readonly tokenAfter?: string | undefined;
}

/** Answer to a refused or failed request of `api/…`. */
export interface ApiFailure {
  /** Stable. */
  readonly code: string;
  readonly message: string;
}
