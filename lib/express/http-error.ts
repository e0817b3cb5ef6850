import { LockError, isWorthRetrying } from '../core/lock-errors.js';
import type { LockErrorCode } from '../core/lock-errors.js';
import type { ExpressResponse } from './express-types.js';
import type { ErrorAnswers } from './lock-request-options.js';

interface HttpFields {
  readonly status: number;
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Adds to a lock error what Express' error handling reads. Other errors come back as they are. */
export function asHttpError(error: unknown, { busyStatus, retryAfter }: ErrorAnswers): unknown {
  if (!(error instanceof LockError)) return error;
  const statuses: Partial<Record<LockErrorCode, number>> = {
    LOCK_TIMEOUT: busyStatus,
    LOCK_STORE_FAILED: 503,
    LOCK_KEY_INVALID: 400,
    LOCK_STALE: 409,
  };
  const status = statuses[error.code] ?? 500;
  const headers: Record<string, string> = isWorthRetrying(error)
    ? { 'Retry-After': String(retryAfter) }
    : {};
  return Object.assign(error, { status, statusCode: status, headers } satisfies HttpFields);
}

/** Answers in place of the application. */
export function answerWith(response: ExpressResponse, error: unknown): void {
  const { status, headers, code, message } = error as LockError & HttpFields;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const isInternal = code === 'LOCK_STORE_FAILED';
  response
    .status(status)
    .json({ code, message: isInternal ? 'The lock store is not available' : message });
}
