import { reasonOf } from '../contract/safe-error.js';
import { LockStoreError, LockTimeoutError } from '../lock-errors.js';
import { keyNames } from '../lock-keys.js';
import type { ResolvedLockOptions } from '../lock-options.js';
import type { AcquireRequest, LockStore, QuorumReport } from '../lock-store.js';
import type { Pulse } from '../store/store-pulse.js';

/** The attempts of one caller so far. */
export interface Attempted {
  readonly store: LockStore;
  readonly keys: readonly string[];
  readonly options: ResolvedLockOptions;
  /** The last one. Missing: the store was not asked. */
  readonly request: AcquireRequest | undefined;
  readonly count: number;
}

export function storeFailure(attempted: Attempted, why: string, cause?: unknown): LockStoreError {
  const { keys, store } = attempted;
  const report = reportOf(attempted);
  return new LockStoreError(keyNames(keys), store.name, why, { cause, report });
}

export function timeoutOf(attempted: Attempted): LockTimeoutError {
  const { keys, options, count } = attempted;
  return new LockTimeoutError(keyNames(keys), options.waitTimeout, {
    attempts: count,
    permits: options.permits,
    report: reportOf(attempted),
  });
}

/**
 * For the deadline of a wait in the queue of the store. Not "held", when nobody knows because the store fails, or has not answered the
 * `pulse`.
 */
export function deadlineError(
  attempted: Attempted,
  pulse: Pulse | undefined,
): LockStoreError | LockTimeoutError {
  const { request, store } = attempted;
  const own = request && store.waitFailure?.(request);
  const error = own ?? pulse?.failure;
  if (error === undefined) return timeoutOf(attempted);
  return storeFailure(attempted, reasonOf(error), error);
}

/** What the nodes said last, where there are several. */
function reportOf({ request, store }: Attempted): QuorumReport | undefined {
  return request && store.report?.(request);
}
