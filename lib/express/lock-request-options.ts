import { DEFAULT_LOCK_OPTIONS, resolveLockOptions, show } from '../core/lock-options.js';
import type { LockOptions } from '../core/lock-options.js';
import type { LockService } from '../core/lock.service.js';
import { checkErrorOptions } from './error-answers.js';
import type { LockErrorOptions } from './error-answers.js';

export interface LockRequestOptions extends Omit<LockOptions, 'signal'>, LockErrorOptions {
  readonly locks: LockService;
  /**
   * Who answers when there is no lock: the error handlers of the application, which find `status`, `statusCode` and
   * `headers` on the error (`'next'`), or the middleware with JSON, `{ code, message }` (`'respond'`).
   * @default 'next'
   */
  readonly onError?: 'next' | 'respond' | undefined;
}

interface CheckedOptions {
  readonly locks: LockService;
  readonly lockOptions: LockOptions;
  readonly onError: 'next' | 'respond';
  readonly errorOptions: LockErrorOptions;
}

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkOptions(options: LockRequestOptions): CheckedOptions {
  const { locks, onError = 'next', busyStatus, retryAfter, ...lockOptions } = options;
  if (typeof locks?.enter !== 'function') {
    throw new TypeError('lockRequest: options.locks must be a LockService');
  }
  if (onError !== 'next' && onError !== 'respond') {
    throw new TypeError(`lockRequest: onError must be 'next' or 'respond', got ${show(onError)}`);
  }
  const errorOptions = { busyStatus, retryAfter };
  checkErrorOptions('lockRequest', errorOptions);
  resolveLockOptions(DEFAULT_LOCK_OPTIONS, lockOptions);
  return { locks, lockOptions, onError, errorOptions };
}
