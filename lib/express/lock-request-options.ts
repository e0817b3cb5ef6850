import { withLabel } from '../core/text/with-label.js';
import { DEFAULT_LOCK_OPTIONS, resolveLockOptions } from '../core/options/lock-options.js';
import type { LockOptions } from '../core/options/lock-options.js';
import type { LockService } from '../core/lock.service.js';
import { named } from '../core/options/lock-name.js';
import { LOCK_RULES } from '../core/options/lock-rules.js';
import { a, aBoolean, checkOptions, needed, oneOf } from '../core/options/option-rules.js';
import type { OptionRules } from '../core/options/option-rules.js';
import { ERROR_RULES } from '../http/error-options.js';
import type { LockErrorOptions } from '../http/error-options.js';
import type { RequestKey } from './request-key.js';
import type { RequestLock } from './lock-until-closed.js';

export interface LockRequestOptions extends Omit<LockOptions, 'signal'>, LockErrorOptions {
  readonly locks: LockService;
  /**
   * The part that answers when there is no lock: the error handlers of the application, which find `status`, `statusCode`,
   * `headers` and `publicMessage` on the error (`'next'`), or the middleware with JSON, `{ code, message }` (`'respond'`).
   * @default 'next'
   */
  readonly onError?: 'next' | 'respond' | undefined;
  /**
   * `true`: a client that goes away frees the keys while its handler may still be at work. A client that hangs up on purpose is then
   * not kept out by its own handler: two of them work on one thing. For work that stops with `response.locals.lockSignal`.
   * @default false
   */
  readonly unsafeReleaseOnDisconnect?: boolean | undefined;
}

interface CheckedOptions extends RequestLock {
  readonly onError: 'next' | 'respond';
  readonly errorOptions: LockErrorOptions;
}

const { signal: _, ...OF_A_REQUEST } = LOCK_RULES;
const RULES: OptionRules<LockRequestOptions> = {
  locks: needed(a('a LockService', isLockService)),
  ...OF_A_REQUEST,
  onError: oneOf('next', 'respond'),
  unsafeReleaseOnDisconnect: aBoolean,
  ...ERROR_RULES,
};

/** Throws `TypeError` or `RangeError` naming the option. */
export function checkRequestOptions(
  owner: string,
  options: LockRequestOptions,
  key: RequestKey,
): CheckedOptions {
  checkOptions(owner, options, RULES, '{ locks }');
  const {
    locks,
    onError = 'next',
    unsafeReleaseOnDisconnect: endsWithClient = false,
    busyStatus,
    retryAfter,
    exposeKey,
    ...given
  } = options;
  const lockOptions = named(given, key);
  withLabel(owner, () => resolveLockOptions(DEFAULT_LOCK_OPTIONS, lockOptions));
  if ('checkSupport' in locks) locks.checkSupport(owner, lockOptions);
  const errorOptions = { busyStatus, retryAfter, exposeKey };
  return { locks, lockOptions, endsWithClient, onError, errorOptions };
}

function isLockService(value: unknown): boolean {
  return typeof (value as Partial<LockService> | null | undefined)?.enter === 'function';
}
