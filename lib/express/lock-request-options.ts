import { labelled } from '../core/labelled.js';
import { DEFAULT_LOCK_OPTIONS, LOCK_OPTIONS, resolveLockOptions } from '../core/lock-options.js';
import type { LockOptions } from '../core/lock-options.js';
import type { LockService } from '../core/lock.service.js';
import { checkOptionNames } from '../core/option-names.js';
import { checkIsObject, show } from '../core/option-values.js';
import { checkErrorOptions } from './error-answers.js';
import type { LockErrorOptions } from './error-answers.js';
import type { RequestLock } from './lock-until-closed.js';

export interface LockRequestOptions extends Omit<LockOptions, 'signal'>, LockErrorOptions {
  readonly locks: LockService;
  /**
   * Who answers when there is no lock: the error handlers of the application, which find `status`, `statusCode`,
   * `headers` and `publicMessage` on the error (`'next'`), or the middleware with JSON, `{ code, message }` (`'respond'`).
   * @default 'next'
   */
  readonly onError?: 'next' | 'respond' | undefined;
  /**
   * `true`: a client that goes away frees the keys while its handler may still be at work. Whoever hangs up on purpose is then
   * not kept out by its own handler: two of them work on one thing. For work that stops with `response.locals.lockSignal`.
   * @default false
   */
  readonly unsafeReleaseOnDisconnect?: boolean | undefined;
}

interface CheckedOptions extends RequestLock {
  readonly onError: 'next' | 'respond';
  readonly errorOptions: LockErrorOptions;
}

const OPTIONS = [
  'locks',
  ...LOCK_OPTIONS.filter((name) => name !== 'signal'),
  'onError',
  'unsafeReleaseOnDisconnect',
  'busyStatus',
  'retryAfter',
];

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkOptions(owner: string, options: LockRequestOptions): CheckedOptions {
  checkIsObject(`${owner}: the options`, options, '{ locks }');
  const {
    locks,
    onError = 'next',
    unsafeReleaseOnDisconnect: endsWithClient = false,
    busyStatus,
    retryAfter,
    ...lockOptions
  } = options;
  if (typeof locks?.enter !== 'function') {
    throw new TypeError(`${owner}: options.locks must be a LockService, got ${show(locks)}`);
  }
  checkOptionNames(options, OPTIONS, owner);
  if (onError !== 'next' && onError !== 'respond') {
    throw new TypeError(`${owner}: onError must be 'next' or 'respond', got ${show(onError)}`);
  }
  if (typeof endsWithClient !== 'boolean') {
    const got = show(endsWithClient);
    throw new TypeError(`${owner}: unsafeReleaseOnDisconnect must be true or false, got ${got}`);
  }
  const errorOptions = { busyStatus, retryAfter };
  checkErrorOptions(owner, errorOptions);
  labelled(owner, () => resolveLockOptions(DEFAULT_LOCK_OPTIONS, lockOptions));
  return { locks, lockOptions, endsWithClient, onError, errorOptions };
}
