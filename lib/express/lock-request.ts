import { KeyTemplate } from '../core/key-template.js';
import { LockError } from '../core/lock-errors.js';
import type { LockKeys } from '../core/lock-keys.js';
import { DEFAULT_LOCK_OPTIONS, resolveLockOptions } from '../core/lock-options.js';
import type { LockOptions } from '../core/lock-options.js';
import type { LockService } from '../core/lock.service.js';
import type { Lock } from '../core/lock.js';
import type { ExpressRequest, ExpressResponse } from './express-types.js';
import { answerWith, asHttpError } from './http-error.js';

export interface LockRequestOptions extends Omit<LockOptions, 'signal'> {
  readonly locks: LockService;
  /**
   * Who answers when there is no lock: the error handlers of the application, which find `status`, `statusCode` and
   * `headers` on the error (`'next'`), or the middleware with JSON (`'respond'`).
   * @default 'next'
   */
  readonly onError?: 'next' | 'respond' | undefined;
  /**
   * Status for a key that stayed held.
   * @default 409
   */
  readonly busyStatus?: number | undefined;
  /**
   * Seconds in the `Retry-After` header of busy and store-down answers.
   * @default 1
   */
  readonly retryAfter?: number | undefined;
}

type RequestKey<Request> = string | readonly string[] | ((request: Request) => LockKeys);

type Middleware<Request, Result> = (
  request: Request,
  response: ExpressResponse,
  next: (error?: unknown) => void,
) => Result;

/**
 * Middleware that runs the rest of the request under a lock, which is on `res.locals.lock`. It is released when the response
 * is finished or the connection closes; the wait ends when the client goes away.
 *
 * ```ts
 * app.post('/orders/:id/pay', lockRequest('order:<params.id>', { locks }), pay);
 * ```
 */
export function lockRequest(
  template: string | readonly string[],
  options: LockRequestOptions,
): <Request extends ExpressRequest>(
  request: Request,
  response: ExpressResponse,
  next: (error?: unknown) => void,
) => void;
/** As above, with a function of the request in place of a template over its properties. */
export function lockRequest<Request extends ExpressRequest>(
  key: (request: Request) => LockKeys,
  options: LockRequestOptions,
): Middleware<Request, void>;
export function lockRequest(
  key: RequestKey<ExpressRequest>,
  options: LockRequestOptions,
): Middleware<ExpressRequest, void> {
  const { locks, onError = 'next', busyStatus = 409, retryAfter = 1, ...lockOptions } = options;
  if (typeof locks?.acquire !== 'function') {
    throw new TypeError('lockRequest: options.locks must be a LockService');
  }
  resolveLockOptions(DEFAULT_LOCK_OPTIONS, lockOptions);
  const keyOf = requestKey(key);
  const lockThenGoOn: Middleware<ExpressRequest, Promise<void>> = async (
    request,
    response,
    next,
  ) => {
    let isLocked: boolean;
    try {
      isLocked = await lockUntilClosed(locks, lockOptions, () => keyOf(request), response);
    } catch (error) {
      const answer = asHttpError(error, { busyStatus, retryAfter });
      if (onError === 'next' || !(error instanceof LockError)) return next(answer);
      return answerWith(response, answer);
    }
    if (isLocked) next();
  };
  return (request, response, next) => void lockThenGoOn(request, response, next);
}

function requestKey<Request>(key: RequestKey<Request>): (request: Request) => LockKeys {
  if (typeof key === 'function') return key;
  if (typeof key !== 'string') {
    const keys = key.map((each) => requestKey<Request>(each) as (request: Request) => string);
    return (request) => keys.map((keyOf) => keyOf(request));
  }
  const template = new KeyTemplate(key);
  return (request) => template.render((root) => (request as Record<string, unknown>)[root]);
}

/** Resolves `false` when the client went away first: there is nobody to answer. */
async function lockUntilClosed(
  locks: LockService,
  options: LockOptions,
  keys: () => LockKeys,
  response: ExpressResponse,
): Promise<boolean> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  if (response.destroyed) return false;
  response.once('close', leave);
  let lock: Lock;
  try {
    lock = await locks.acquire(keys(), { ...options, signal: gone.signal });
  } catch (error) {
    if (gone.signal.aborted) return false;
    throw error;
  } finally {
    response.removeListener('close', leave);
  }
  const release = () => void lock.release(); // never rejects
  response.once('close', release);
  if (response.destroyed || gone.signal.aborted) release();
  response.locals['lock'] = lock;
  return !response.destroyed;
}
