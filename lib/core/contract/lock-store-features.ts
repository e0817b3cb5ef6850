/** The features of a store, by which core chooses its calls. */
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
   * `true`: `acquire` queues every caller, those of one process included, so core keeps no queue in front of it. Callers of
   * several keys too, unless `queuesManyKeys` is set. Missing: core sends one caller per process and key.
   */
  readonly queuesAllCallers?: boolean;
  /**
   * A caller of several keys waits in the queue of one refused key. Once `acquire` has handed that key over and `extend` has
   * confirmed it, a `tryAcquire` of the same token for all keys grants it again, even with waiters behind. Missing: core polls
   * for several keys.
   */
  readonly queuesManyKeys?: true;
  /** Requests may be for readers (`permits: Infinity`); readers share a key. Missing: refused by core. */
  readonly readLocks?: true;
  /**
   * Requests may ask for a number of permits. `'polled'`: a waiter for a permit has no place in the queue of `acquire`, so core
   * polls, and other callers may overtake it. Missing: refused by core.
   */
  readonly semaphores?: true | 'polled';
  /** Why the store cannot count holders, for the refusal of semaphores and read locks. */
  readonly sharingUnsupported?: string;
  /** `false`: the store grants every key to every caller, so no caller waits. For tests of work under a lock. */
  readonly exclusive?: boolean;
}
