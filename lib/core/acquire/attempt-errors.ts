import { LockStoreError, LockTimeoutError } from '../contract/lock-errors.js';
import type { LockLostError } from '../contract/lock-errors.js';
import { keyNames } from '../keys/lock-keys.js';
import type { ResolvedLockOptions } from '../options/lock-options.js';
import type { AcquireRequest, LockStore, QuorumReport } from '../contract/lock-store.js';
import type { HolderLookup } from '../inspection/holder-lookup.js';
import type { LeaseKeeper } from '../lease/lease-keeper.js';
import { storeFailureOf } from '../store/store-failure.js';
import type { Pulse } from '../store/store-pulse.js';

/** The attempts of one caller so far. */
export interface Attempted {
  readonly store: LockStore;
  readonly keys: readonly string[];
  readonly options: ResolvedLockOptions;
  /** The last one. Missing: the store was not asked. */
  readonly request: AcquireRequest | undefined;
  readonly count: number;
  /** Of several keys, the one that another caller had at the last attempt, where that is known. */
  readonly refusedBy: string | undefined;
}

/** Where the holder of a key is known, or can be asked for. */
interface HolderContext {
  readonly store: LockStore;
  readonly holders: HolderLookup;
  readonly keeper: Pick<LeaseKeeper, 'leases'>;
}

export function storeFailure(attempted: Attempted, error: unknown): LockStoreError {
  return storeFailureOf(attempted.store, attempted.keys, error, reportOf(attempted));
}

/** The grant was of no use. */
export function uselessGrant(attempted: Attempted, why: string): LockStoreError {
  const { keys, store } = attempted;
  return new LockStoreError(keyNames(keys), store.name, why, { report: reportOf(attempted) });
}

export function timeoutOf(attempted: Attempted): LockTimeoutError {
  const { keys, options, count, refusedBy } = attempted;
  return new LockTimeoutError(keyNames(keys), options.waitTimeout, {
    attempts: count,
    refusedBy,
    permits: options.permits,
    report: reportOf(attempted),
  });
}

/**
 * For the deadline of a wait in the store's queue. Not "held" when the holder is unknown: the store fails, or has not answered
 * the `pulse`.
 */
export function deadlineError(
  attempted: Attempted,
  pulse: Pulse | undefined,
): LockStoreError | LockTimeoutError {
  const { request, store } = attempted;
  const own = request && store.waitFailure?.(request);
  const error = own ?? pulse?.failure;
  if (error === undefined) return timeoutOf(attempted);
  return storeFailure(attempted, error);
}

/** Whether a lock of this service has one of `keys`. */
export function hasHolderHere(
  { keeper }: Pick<HolderContext, 'keeper'>,
  keys: readonly string[],
): boolean {
  const isOneOfThem = (key: string) => keys.includes(key);
  return keeper.leases.some((lease) => lease.keys.some(isOneOfThem));
}

/** Another error in place of a timeout, if the caller knows better why it waited. */
export type Explain = (error: LockTimeoutError) => unknown;

/** Of a call in the async context of a held lock, whose work may need it to end. */
export interface Nesting {
  readonly explain?: Explain;
}

/** Adds the name of the holder, and for how long it has had the key. For a call that has waited: one attempt is to cost one question. */
export async function withHolder(
  { store, holders }: Pick<HolderContext, 'store' | 'holders'>,
  { keys, mayWait }: { readonly keys: readonly string[]; readonly mayWait: boolean },
  error: LockTimeoutError,
): Promise<LockTimeoutError> {
  if (!mayWait || !store.inspect) return error;
  const found = await holders.holderOf(error.refusedBy === undefined ? keys : [error.refusedBy]);
  if (found?.heldFor !== undefined) error.message += `, for ${Math.round(found.heldFor)} ms`;
  return Object.assign(error, found);
}

/** The last answers of the nodes, where there are several. */
function reportOf({ request, store }: Attempted): QuorumReport | undefined {
  return request && store.report?.(request);
}

/** The process was suspended after the grant had been checked. */
export function endedEarly({ name }: LockStore, loss: LockLostError): LockStoreError {
  const why = `the lock ended before it could be handed out (${loss.reason})`;
  return new LockStoreError(loss.key, name, why, { cause: loss });
}
