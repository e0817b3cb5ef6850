import type { NodeReport } from './store-notices.js';

/** A store's knowledge of a held key. Fields that it does not know, or that a foreign holder did not write, are missing. */
export interface LockInspection {
  readonly key: string;
  /** `host:pid:startTime` of the process that holds the key. */
  readonly holder?: string | undefined;
  /** Of a shared key: the maximum number of holders at the same time, `Infinity` for readers. */
  readonly permits?: number | undefined;
  /** Of a shared key: all holders, in the format of `holder`, in order of arrival where the store knows it. */
  readonly holders?: readonly string[] | undefined;
  /** Milliseconds until the key frees itself unless extended. Of a shared key, until its last sharer ends. */
  readonly remaining?: number | undefined;
  /** An upper bound of the tokens of the holder, and of later holders in its process. */
  readonly fencingToken?: bigint | undefined;
  /** Milliseconds since the grant, at least. On Redis, of a lock that its process passes on among its callers, up to a second more. */
  readonly heldFor?: number | undefined;
  /**
   * Processes that wait in the store's queue, in the format of `holder`, the first first, at most 100. Missing: the store has no
   * queue.
   */
  readonly waiters?: readonly string[] | undefined;
  /** Number of all waiters in the store's queue. */
  readonly waiterCount?: number | undefined;
}

/** A page of the held keys to ask a store for. */
export interface LockListQuery {
  /** Glob over the key as callers write it: `*` is any text, `?` any character, every other character itself. Missing: all. */
  readonly match?: string | undefined;
  /** `LockPage.cursor` of the page before. Missing: the first page. */
  readonly cursor?: string | undefined;
  /** Maximum number of locks in the page. At least 1. */
  readonly limit: number;
}

/** Some of the held keys. It may have fewer than were asked for, or none, and still a `cursor`. */
export interface LockPage {
  readonly locks: readonly LockInspection[];
  /** Asks for the next page. Missing: this is the last one. */
  readonly cursor?: string | undefined;
  /** Of a store with several nodes, those that could not be listed so far. The locks of the others are listed all the same. */
  readonly unreachable?: readonly NodeReport[] | undefined;
}
