import type { LockError, LockErrorCode } from '../core/contract/lock-errors.js';
import type { LockErrorOptions } from './error-options.js';

/** The status on every transport unless its options name another. 500: a mistake in the program, or work that may be half done. */
const STATUSES: Readonly<Record<LockErrorCode, number>> = {
  LOCK_TIMEOUT: 409,
  LOCK_STORE_FAILED: 503,
  LOCK_KEY_INVALID: 400,
  LOCK_STALE: 409,
  LOCK_TOKEN_INVALID: 400,
  LOCK_WRITE_TIMEOUT: 409,
  LOCK_QUEUE_FULL: 503,
  LOCK_DRAINING: 503,
  LOCK_LOST: 500,
  LOCK_DEADLOCK: 500,
  LOCK_PERMITS_DIFFER: 500,
  LOCK_UNSUPPORTED: 500,
};

const WORTH_RETRYING: readonly LockErrorCode[] = [
  'LOCK_TIMEOUT',
  'LOCK_STORE_FAILED',
  'LOCK_WRITE_TIMEOUT',
  'LOCK_QUEUE_FULL',
  'LOCK_DRAINING',
];

const INTERNAL = 'Internal server error';

/** Names no key, no token, no node, and says nothing that a driver has said. */
const MESSAGES: Readonly<Record<LockErrorCode, string>> = {
  LOCK_TIMEOUT: 'The lock is held',
  LOCK_STORE_FAILED: 'The lock store is not available',
  LOCK_KEY_INVALID: 'The request gives no valid lock key',
  LOCK_STALE: 'The fencing token is stale',
  LOCK_TOKEN_INVALID: 'The fencing token is not valid',
  LOCK_QUEUE_FULL: 'Too many requests wait for the lock',
  LOCK_DRAINING: 'The server is shutting down',
  LOCK_WRITE_TIMEOUT: 'An earlier write is still in progress',
  LOCK_LOST: INTERNAL,
  LOCK_DEADLOCK: INTERNAL,
  LOCK_PERMITS_DIFFER: INTERNAL,
  LOCK_UNSUPPORTED: INTERNAL,
};
const MISSING_TOKEN = 'The fencing token is missing';

/** The HTTP status of a lock error; `busyStatus` for a key that stayed held. */
export function httpStatus(error: LockError, busyStatus = STATUSES.LOCK_TIMEOUT): number {
  if (error.code === 'LOCK_TIMEOUT') return busyStatus;
  if (lacksToken(error)) return 428;
  return STATUSES[error.code];
}

/** The message to a client: one text for each code. The text of an error is for the log alone. */
export function publicMessage(error: LockError): string {
  return lacksToken(error) ? MISSING_TOKEN : MESSAGES[error.code];
}

function lacksToken(error: LockError): boolean {
  return error.code === 'LOCK_TOKEN_INVALID' && 'reason' in error && error.reason === 'missing';
}

/** The `key` that a body has beside its `code`, for options that expose it. An answer of 500 has none. */
export function exposedKey(
  error: LockError,
  { exposeKey = false }: LockErrorOptions,
): { readonly key?: string } {
  return exposeKey && httpStatus(error) !== 500 ? { key: error.key } : {};
}

/** The same request may succeed a moment later. */
export function isWorthRetrying({ code }: LockError): boolean {
  return WORTH_RETRYING.includes(code);
}

/**
 * `Retry-After`, in seconds: from `least` to twice as much, so that clients that were refused together do not come back together.
 */
export function retryAfterHeader(least: number): string {
  return String(least + Math.floor(Math.random() * (least + 1)));
}
