import { KeyTemplate } from '../core/key-template.js';
import { LockError } from '../core/lock-errors.js';
import type { LockKeys } from '../core/lock-keys.js';
import type { LockScope } from '../core/lock-scope.js';
import { answerWith, asHttpError } from './error-answers.js';
import type { ExpressRequest, ExpressResponse } from './express-types.js';
import { checkOptions } from './lock-request-options.js';
import type { LockRequestOptions } from './lock-request-options.js';
import { lockUntilClosed } from './lock-until-closed.js';

type RequestKey<Request> = string | readonly string[] | ((request: Request) => LockKeys);

type Middleware<Request, Result> = (
  request: Request,
  response: ExpressResponse,
  next: (error?: unknown) => void,
) => Result;

interface MiddlewareOfAny {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Express infers it from the route's handlers
  <Request extends ExpressRequest>(...args: Parameters<Middleware<Request, void>>): void;
}

/**
 * Middleware that runs the rest of the request under a lock, which is on `res.locals.lock` and which `withLock` re-enters.
 * It is released when the response is finished or the connection closes; the wait ends when the client goes away.
 * `res.locals.lockSignal` aborts with a `LockLostError` when the client goes away, or the lock is lost, before the response is
 * finished: pass it to work that is to stop then. Work that goes on all the same takes the lock with `withLock`, and keeps it.
 *
 * ```ts
 * app.post('/orders/:id/pay', lockRequest('order:<params.id>', { locks }), pay);
 * ```
 */
export function lockRequest(
  template: string | readonly string[],
  options: LockRequestOptions,
): MiddlewareOfAny;
/** As above, with a function of the request in place of a template over its properties. */
export function lockRequest<Request extends ExpressRequest>(
  key: (request: Request) => LockKeys,
  options: LockRequestOptions,
): Middleware<Request, void>;
export function lockRequest(
  key: RequestKey<ExpressRequest>,
  options: LockRequestOptions,
): Middleware<ExpressRequest, void> {
  const { locks, lockOptions, onError, errorOptions } = checkOptions(options);
  const keyOf = requestKey(key);
  const lockThenGoOn: Middleware<ExpressRequest, Promise<void>> = async (
    request,
    response,
    next,
  ) => {
    let scope: LockScope | undefined;
    try {
      scope = await lockUntilClosed(locks, lockOptions, () => keyOf(request), request, response);
    } catch (error) {
      const httpError = asHttpError(error, errorOptions);
      const isOurs = error instanceof LockError && onError === 'respond' && !response.headersSent;
      return isOurs ? answerWith(response, error, errorOptions) : next(httpError);
    }
    scope?.run(() => next());
  };
  return (request, response, next) => void lockThenGoOn(request, response, next);
}

function requestKey<Request>(key: RequestKey<Request>): (request: Request) => LockKeys {
  if (typeof key === 'function') return key;
  if (typeof key === 'string') return templateOf(key);
  if (!Array.isArray(key) || key.length === 0 || !key.every((each) => typeof each === 'string')) {
    throw new TypeError('lockRequest: the key must be a template, a list of them, or a function');
  }
  const keys = (key as readonly string[]).map(templateOf);
  return (request) => keys.map((keyOf) => keyOf(request));
}

function templateOf(source: string): (request: unknown) => string {
  const template = new KeyTemplate(source);
  return (request) => template.render((root) => (request as Record<string, unknown>)[root]);
}
