import { labelled } from '../core/labelled.js';
import { DEFAULT_LOCK_OPTIONS, LOCK_OPTIONS, resolveLockOptions } from '../core/lock-options.js';
import type { LockOptions } from '../core/lock-options.js';
import type { LockService } from '../core/lock.service.js';
import { checkOptionNames } from '../core/option-names.js';
import { checkIsObject, show } from '../core/option-values.js';
import { checkErrorOptions } from './error-answers.js';
import type { LockErrorOptions } from './error-answers.js';

export interface LockRequestOptions extends Omit<LockOptions, 'signal'>, LockErrorOptions {
  readonly locks: LockService;
  /**
   * Who answers when there is no lock: the error handlers of the application, which find `status`, `statusCode`,
   * `headers` and `publicMessage` on the error (`'next'`), or the middleware with JSON, `{ code, message }` (`'respond'`).
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

const OPTIONS = [
  'locks',
  ...LOCK_OPTIONS.filter((name) => name !== 'signal'),
  'onError',
  'busyStatus',
  'retryAfter',
];

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkOptions(options: LockRequestOptions): CheckedOptions {
  checkIsObject('lockRequest: the options', options, '{ locks }');
  const { locks, onError = 'next', busyStatus, retryAfter, ...lockOptions } = options;
  if (typeof locks?.enter !== 'function') {
    throw new TypeError(`lockRequest: options.locks must be a LockService, got ${show(locks)}`);
  }
  checkOptionNames(options, OPTIONS, 'lockRequest');
  if (onError !== 'next' && onError !== 'respond') {
    throw new TypeError(`lockRequest: onError must be 'next' or 'respond', got ${show(onError)}`);
  }
  const errorOptions = { busyStatus, retryAfter };
  checkErrorOptions('lockRequest', errorOptions);
  labelled('lockRequest', () => resolveLockOptions(DEFAULT_LOCK_OPTIONS, lockOptions));
  return { locks, lockOptions, onError, errorOptions };
}
