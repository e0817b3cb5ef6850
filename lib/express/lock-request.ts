import type { LockKeys } from '../core/keys/lock-keys.js';
import type { ExpressRequest, ExpressResponse } from './express-types.js';
import type { LockRequestOptions } from './lock-request-options.js';
import { lockedMiddleware } from './locked-middleware.js';
import type { RequestKey } from './request-key.js';

type Middleware<Request, Result> = (
  request: Request,
  response: ExpressResponse,
  next: (error?: unknown) => void,
) => Result;

interface MiddlewareOfAny {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Express infers it from the route's handlers
  <Request extends ExpressRequest>(...args: Parameters<Middleware<Request, void>>): void;
}

type KeyOfAny = string | readonly string[] | ((request: ExpressRequest) => LockKeys);

/** A middleware needs the same fields of a request as its key function. */
type MiddlewareFor<Key> = Key extends KeyOfAny
  ? MiddlewareOfAny
  : Key extends (request: infer Request) => LockKeys
    ? Middleware<Request, void>
    : never;

/**
 * Middleware that runs the rest of the request under a lock. Its key is a template over the properties of the request, or a
 * function of the request. The lock is on `res.locals.lock`; `withLock` shares it with `reentrant: true`.
 * It is released when the response is finished. A client that goes away ends the wait for a lock, and frees none: the lock is held
 * until the handler calls `response.end` or `response.destroy`, its error reaches `lockErrorHandler`, or `maxHold` has passed,
 * five minutes by default. A middleware does not see what a handler promises: `lockHandler` does.
 * `res.locals.lockSignal` aborts when the client goes away, or the lock is lost, before the response is finished: pass it to work that
 * is to stop then.
 *
 * ```ts
 * app.post('/orders/:id/pay', lockRequest('order:<params.id>', { locks }), pay);
 * ```
 */
export function lockRequest<Key extends RequestKey>(
  key: Key,
  options: LockRequestOptions,
): MiddlewareFor<Key> {
  const goOn = (_request: ExpressRequest, _response: ExpressResponse, next: () => void) => next();
  return lockedMiddleware('lockRequest', { key, options, handler: goOn }) as MiddlewareFor<Key>;
}
