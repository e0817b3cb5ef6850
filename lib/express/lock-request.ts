import { KeyTemplate } from '../core/key-template.js';
import { LockError } from '../core/lock-errors.js';
import type { LockKeys } from '../core/lock-keys.js';
import { DEFAULT_LOCK_OPTIONS, resolveLockOptions } from '../core/lock-options.js';
import type { LockOptions } from '../core/lock-options.js';
import type { LockService } from '../core/lock.service.js';
import type { Lock } from '../core/lock.js';
import { answerWith, asHttpError } from './http-error.js';

/** The part of a request of Express 4 or 5 that is used here. */
export interface ExpressRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body?: unknown;
}

/** The part of a response of Express 4 or 5 that is used here. */
export interface ExpressResponse {
  locals: Record<string, any>;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  readonly writableFinished: boolean;
  once(event: 'close', listener: () => void): unknown;
  removeListener(event: 'close', listener: () => void): unknown;
  setHeader(name: string, value: string): unknown;
  status(code: number): { json(body: unknown): unknown };
}

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

/** What locks a request: a template over its properties (`order:<params.id>`), several of them, or a function of it. */
export type RequestKey<Request> = string | readonly string[] | ((request: Request) => LockKeys);

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
export function lockRequest<Request extends ExpressRequest = ExpressRequest>(
  key: RequestKey<Request>,
  options: LockRequestOptions,
): Middleware<Request, void> {
  const { locks, onError = 'next', busyStatus = 409, retryAfter = 1, ...lockOptions } = options;
  if (typeof locks?.acquire !== 'function') {
    throw new TypeError('lockRequest: options.locks must be a LockService');
  }
  resolveLockOptions(DEFAULT_LOCK_OPTIONS, lockOptions);
  const keyOf = requestKey(key);
  const lockThenGoOn: Middleware<Request, Promise<void>> = async (request, response, next) => {
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
