import { optionError } from '../core/options/option-error.js';
import { show } from '../core/options/option-values.js';
import type { LockKeys } from '../core/keys/lock-keys.js';
import { isThenable } from '../http/handler-work.js';
import { nextError } from '../http/next-error.js';
import type { ExpressRequest, ExpressResponse } from './express-types.js';
import type { LockRequestOptions } from './lock-request-options.js';
import { lockedMiddleware } from './locked-middleware.js';

type Next = (error?: unknown) => void;

/** A handler of Express, as it stands in a route. */
type Handler<Request, Response> = (request: Request, response: Response, next: Next) => unknown;

/**
 * A handler that runs under a lock, for the place of a handler in a route. As `lockRequest`, and it sees the promise that `handler`
 * returns: the lock is held until that has settled and the response is over, whatever becomes of the client. A rejection of the
 * promise goes to the error handlers, also in Express 4.
 *
 * ```ts
 * app.post('/orders/:id/pay', lockHandler('order:<params.id>', { locks }, async (request, response) => {
 *   response.json(await pay(request.params.id));
 * }));
 * ```
 */
export function lockHandler<Request extends ExpressRequest, Response extends ExpressResponse>(
  key: string | readonly string[] | ((request: Request) => LockKeys),
  options: LockRequestOptions,
  handler: Handler<Request, Response>,
): Handler<Request, Response> {
  if (typeof handler !== 'function') {
    throw optionError(`lockHandler: the handler must be a function, got ${show(handler)}`);
  }
  const locked = (request: Request, response: Response, next: Next): unknown => {
    try {
      const returned = handler(request, response, next);
      return isThenable(returned)
        ? returned.then(undefined, (error) => next(nextError(error)))
        : undefined;
    } catch (error) {
      return next(nextError(error));
    }
  };
  return lockedMiddleware('lockHandler', { key, options, handler: locked } as never);
}
