import type { LockError, LockErrorCode } from './lock-errors.js';

/** What every door says unless its options say otherwise. 500: a mistake in the program, or work that may be half done. */
const STATUSES: Readonly<Record<LockErrorCode, number>> = {
  LOCK_TIMEOUT: 409,
  LOCK_STORE_FAILED: 503,
  LOCK_KEY_INVALID: 400,
  LOCK_STALE: 409,
  LOCK_TOKEN_INVALID: 400,
  LOCK_WRITE_TIMEOUT: 409,
  LOCK_LOST: 500,
  LOCK_DEADLOCK: 500,
  LOCK_PERMITS_DIFFER: 500,
  LOCK_UNSUPPORTED: 500,
};

/** The HTTP status of a lock error; `busyStatus` for a key that stayed held. */
export function httpStatus(error: LockError, busyStatus = STATUSES.LOCK_TIMEOUT): number {
  if (error.code === 'LOCK_TIMEOUT') return busyStatus;
  if (error.code === 'LOCK_TOKEN_INVALID' && 'reason' in error && error.reason === 'missing') {
    return 428;
  }
  return STATUSES[error.code];
}

/** What a client is told. The words of a failing store may name hosts, and those of a mistake are for its programmer. */
export function publicMessage(error: LockError): string {
  const status = httpStatus(error);
  if (status === 503) return 'The lock store is not available';
  return status === 500 ? 'Internal server error' : error.message;
}

/** The same request may succeed a moment later. */
export function isWorthRetrying({ code }: LockError): boolean {
  return ['LOCK_TIMEOUT', 'LOCK_STORE_FAILED', 'LOCK_WRITE_TIMEOUT'].includes(code);
}
