import type { LockStore, QuorumReport } from '../contract/lock-store.js';
import { LockStoreError } from '../contract/lock-errors.js';
import { reasonOf } from '../contract/safe-error.js';
import { keyNames } from '../keys/lock-keys.js';

/**
 * The error to report for an error of the store, or for an answer that did not come. Where its client has no connection, that is the
 * cause: the client may have said no more than that it gave up.
 */
export function storeFailureOf(
  store: LockStore,
  keys: readonly string[],
  error: unknown,
  report?: QuorumReport,
): LockStoreError {
  const said = reasonOf(error);
  const connection = connectionFailureOf(store);
  const cause = connection ?? error;
  const lacks = connection === undefined ? undefined : reasonOf(connection);
  const why = lacks === undefined || said.includes(lacks) ? said : `${said}: ${lacks}`;
  return new LockStoreError(keyNames(keys), store.name, why, { cause, report });
}

/** `undefined` where a store of others throws in place of an answer: its first error is to be reported. */
export function connectionFailureOf(store: LockStore): unknown {
  try {
    return store.connectionFailure?.(true);
  } catch {
    return undefined;
  }
}
