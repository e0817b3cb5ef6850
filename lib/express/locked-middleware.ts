import { LockError } from '../core/contract/lock-errors.js';
import type { LockScope } from '../core/scope/lock-scope.js';
import { HandlerWork } from '../http/handler-work.js';
import { nextError } from '../http/next-error.js';
import { answerWith, asHttpError } from './error-answers.js';
import type { ExpressRequest, ExpressResponse } from './express-types.js';
import { checkRequestOptions } from './lock-request-options.js';
import type { LockRequestOptions } from './lock-request-options.js';
import { lockUntilClosed } from './lock-until-closed.js';
import { requestKey } from './request-key.js';
import type { RequestKey } from './request-key.js';

type Next = (error?: unknown) => void;

/** The function that runs under the lock. */
type Handler = (request: ExpressRequest, response: ExpressResponse, next: Next) => unknown;

interface Locked {
  readonly key: RequestKey;
  readonly options: LockRequestOptions;
  readonly handler: Handler;
}

/** A middleware that calls `handler` under a lock. Throws `TypeError` or `RangeError`, which begin with `owner`. */
export function lockedMiddleware(
  owner: string,
  { key, options, handler }: Locked,
): (...args: Parameters<Handler>) => void {
  const checked = checkRequestOptions(owner, options, key);
  const { onError, errorOptions } = checked;
  const keyOf = requestKey(owner, key);

  async function lockThenCall(...[request, response, next]: Parameters<Handler>): Promise<void> {
    let scope: LockScope | undefined;
    try {
      scope = await lockUntilClosed(checked, () => keyOf(request), request, response);
    } catch (error) {
      const httpError = asHttpError(error, errorOptions);
      const isOurs = error instanceof LockError && onError === 'respond' && !response.headersSent;
      return isOurs ? answerWith(response, error, errorOptions) : next(nextError(httpError));
    }
    if (!scope) return;
    try {
      HandlerWork.of(response).returned(scope.run(() => handler(request, response, next)));
    } catch (error) {
      next(nextError(error)); // of a router that does not catch it, as that of Express does
    }
  }
  return (...args) => void lockThenCall(...args);
}
