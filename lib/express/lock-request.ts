import { KeyTemplate } from '../core/key-template.js';
import { labelled } from '../core/labelled.js';
import { LockError } from '../core/lock-errors.js';
import type { LockKeys } from '../core/lock-keys.js';
import { show } from '../core/option-values.js';
import type { LockScope } from '../core/lock-scope.js';
import { answerWith, asHttpError } from './error-answers.js';
import type { ExpressRequest, ExpressResponse } from './express-types.js';
import { checkOptions } from './lock-request-options.js';
import type { LockRequestOptions } from './lock-request-options.js';
import { lockUntilClosed } from './lock-until-closed.js';

/** One that asks for a particular kind of request is accepted, too: Express gives it. */
type KeyFunction = { of(request: ExpressRequest): LockKeys }['of'];

/** A template over the properties of a request, several of them (all or nothing), or a function of the request. */
type RequestKey = string | readonly string[] | KeyFunction;

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

/** What a key function asks of a request, its middleware asks, too. */
type MiddlewareFor<Key> = Key extends KeyOfAny
  ? MiddlewareOfAny
  : Key extends (request: infer Request) => LockKeys
    ? Middleware<Request, void>
    : never;

/**
 * Middleware that runs the rest of the request under a lock. Its key is a template over the properties of the request, or a
 * function of the request. The lock is on `res.locals.lock`; `withLock` shares it with `reentrant: true`.
 * It is released when the response is finished or the connection closes; the wait ends when the client goes away.
 * `res.locals.lockSignal` aborts with a `LockLostError` when the client goes away, or the lock is lost, before the response is
 * finished: pass it to work that is to stop then. Work that goes on all the same shares the lock by such a `withLock`, and keeps it.
 *
 * ```ts
 * app.post('/orders/:id/pay', lockRequest('order:<params.id>', { locks }), pay);
 * ```
 */
export function lockRequest<Key extends RequestKey>(
  key: Key,
  options: LockRequestOptions,
): MiddlewareFor<Key> {
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
  const middleware: Middleware<ExpressRequest, void> = (request, response, next) =>
    void lockThenGoOn(request, response, next);
  return middleware as MiddlewareFor<Key>;
}

function requestKey(key: RequestKey): (request: ExpressRequest) => LockKeys {
  if (typeof key === 'function') return key;
  if (typeof key === 'string') return templateOf(key);
  if (!Array.isArray(key) || key.length === 0 || !key.every((each) => typeof each === 'string')) {
    throw new TypeError(
      `lockRequest: the key must be a template, a list of them, or a function, got ${show(key)}`,
    );
  }
  const keys = (key as readonly string[]).map(templateOf);
  return (request) => keys.map((keyOf) => keyOf(request));
}

function templateOf(source: string): (request: unknown) => string {
  const template = labelled('lockRequest', () => new KeyTemplate(source));
  refuseBraces(source);
  return (request) => template.render((root) => (request as Record<string, unknown>)[root]);
}

/** As mere text, it would be one key for all requests. A `:id` may name a route. */
function refuseBraces(source: string): void {
  const [found, path] = /\{((?:params|query|body|headers)\.[\w.-]+)\}/.exec(source) ?? [];
  if (found === undefined) return;
  throw new TypeError(`lockRequest: ${found} in "${source}" is no placeholder. Write <${path}>`);
}
