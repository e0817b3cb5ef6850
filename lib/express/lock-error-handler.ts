import { LockError } from '../core/contract/lock-errors.js';
import { checkOptions } from '../core/options/option-rules.js';
import { ERROR_RULES } from '../http/error-options.js';
import type { LockErrorOptions } from '../http/error-options.js';
import { HandlerWork } from '../http/handler-work.js';
import { answerWith } from './error-answers.js';
import type { ExpressResponse } from './express-types.js';

type LockErrorHandler = (
  error: unknown,
  request: unknown,
  response: ExpressResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Error handler that answers for lock errors, wherever they come from, with JSON, `{ code, message }`: 409 with `Retry-After`
 * for a held key, 503 with `Retry-After` for a store that failed, 400 for a key that cannot be made, 409 for a stale fencing
 * token, 428 or 400 for one that is missing or malformed, 500 for everything else. Other errors, and those that come when
 * headers have been sent, go on to the next handler. The options of `lockRequest` for a route come before these.
 *
 * Throws `TypeError` or `RangeError` naming the option.
 *
 * ```ts
 * app.use(lockErrorHandler()); // after the routes
 * ```
 */
export function lockErrorHandler(options: LockErrorOptions = {}): LockErrorHandler {
  checkOptions('lockErrorHandler', options, ERROR_RULES, '{ busyStatus: 423 }');
  return (error, _request, response, next) => {
    HandlerWork.failed(response);
    if (!(error instanceof LockError) || response.headersSent) return next(error);
    answerWith(response, error, options);
  };
}
