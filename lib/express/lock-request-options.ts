import { DEFAULT_LOCK_OPTIONS, resolveLockOptions, show } from '../core/lock-options.js';
import type { LockOptions } from '../core/lock-options.js';
import type { LockService } from '../core/lock.service.js';

export interface LockRequestOptions extends Omit<LockOptions, 'signal'> {
  readonly locks: LockService;
  /**
   * Who answers when there is no lock: the error handlers of the application, which find `status`, `statusCode` and
   * `headers` on the error (`'next'`), or the middleware with JSON (`'respond'`).
   * @default 'next'
   */
  readonly onError?: 'next' | 'respond' | undefined;
  /**
   * Status for a key that stayed held.
   * @default 409
   */
  readonly busyStatus?: number | undefined;
  /**
   * Seconds in the `Retry-After` header of busy and store-down answers.
   * @default 1
   */
  readonly retryAfter?: number | undefined;
}

/** How a request without a lock is answered. */
export interface ErrorAnswers {
  readonly onError: 'next' | 'respond';
  readonly busyStatus: number;
  readonly retryAfter: number;
}

interface CheckedOptions {
  readonly locks: LockService;
  readonly lockOptions: LockOptions;
  readonly answers: ErrorAnswers;
}

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkOptions(options: LockRequestOptions): CheckedOptions {
  const { locks, onError = 'next', busyStatus = 409, retryAfter = 1, ...lockOptions } = options;
  if (typeof locks?.enter !== 'function') {
    throw new TypeError('lockRequest: options.locks must be a LockService');
  }
  if (onError !== 'next' && onError !== 'respond') {
    throw new TypeError(`lockRequest: onError must be 'next' or 'respond', got ${show(onError)}`);
  }
  checkWhole('busyStatus', busyStatus, 400, 599);
  checkWhole('retryAfter', retryAfter, 0, Number.MAX_SAFE_INTEGER);
  resolveLockOptions(DEFAULT_LOCK_OPTIONS, lockOptions);
  return { locks, lockOptions, answers: { onError, busyStatus, retryAfter } };
}

function checkWhole(name: string, value: number, from: number, to: number): void {
  if (Number.isInteger(value) && value >= from && value <= to) return;
  throw new RangeError(
    `lockRequest: ${name} must be a whole number from ${from} to ${to}, got ${show(value)}`,
  );
}
