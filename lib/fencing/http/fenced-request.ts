import { publicMessage } from '../../http/lock-status.js';
import { nextError } from '../../http/next-error.js';
import type { LockError } from '../../core/contract/lock-errors.js';
import { checkOptions, oneOf } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import type { IncomingHeaders } from './fencing-header.js';
import { FENCE_RULES, RequestFence, fenceStatus } from './request-fence.js';
import type { FenceKey, RequestFenceOptions } from './request-fence.js';

/** The part of a request of Express 4 or 5 that is used here. */
export interface FencedExpressRequest {
  readonly headers: IncomingHeaders;
}

/** The part of a response of Express 4 or 5 that is used here. */
export interface FencedExpressResponse {
  locals: Record<string, unknown>;
  status(code: number): { json(body: unknown): unknown };
}

export interface FencedRequestOptions extends RequestFenceOptions {
  /**
   * The part that answers for a refused request: the error handlers of the application, which find `status`, `statusCode` and
   * `publicMessage` on the error (`'next'`), or the middleware with JSON, `{ code, message }` (`'respond'`).
   * @default 'next'
   */
  readonly onError?: 'next' | 'respond' | undefined;
}

const RULES: OptionRules<FencedRequestOptions> = {
  ...FENCE_RULES,
  onError: oneOf('next', 'respond'),
};

type Middleware<Request> = (
  request: Request,
  response: FencedExpressResponse,
  next: (error?: unknown) => void,
) => void;

interface MiddlewareOfAny {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Express infers it from the route's handlers
  <Request extends FencedExpressRequest>(...args: Parameters<Middleware<Request>>): void;
}

/**
 * Middleware that refuses requests whose header `Fencing-Token` is smaller than one seen before for the same key: 409 and
 * `LOCK_STALE`. Without the header 428, with a malformed one 400. The fence of an admitted request is on `res.locals.fence`, for a fenced write:
 * a newer request may come while the handler works.
 *
 * ```ts
 * app.put('/orders/:id', fencedRequest('order:<params.id>', { gate: new FencingGate() }), update);
 * ```
 */
export function fencedRequest(template: string, options: FencedRequestOptions): MiddlewareOfAny;
/** As above, with a function of the request in place of a template over its properties. */
export function fencedRequest<Request extends FencedExpressRequest>(
  key: (request: Request) => string,
  options: FencedRequestOptions,
): Middleware<Request>;
export function fencedRequest(
  key: FenceKey<FencedExpressRequest>,
  options: FencedRequestOptions,
): Middleware<FencedExpressRequest> {
  checkOptions('fencedRequest', options, RULES, '{ gate }');
  const { onError = 'next' } = options;
  const fence = new RequestFence('fencedRequest', key, options, (request) => request);
  const admit: (...args: Parameters<Middleware<FencedExpressRequest>>) => Promise<void> = async (
    request,
    response,
    next,
  ) => {
    try {
      response.locals['fence'] = await fence.admit(request, request.headers);
    } catch (error) {
      const status = fenceStatus(error);
      if (status === undefined) return next(nextError(error));
      const { code } = error as LockError;
      const message = publicMessage(error as LockError);
      if (onError === 'respond') return void response.status(status).json({ code, message });
      const forClients = { status, statusCode: status, expose: false, publicMessage: message };
      return next(Object.assign(error as LockError, forClients));
    }
    next();
  };
  return (request, response, next) => void admit(request, response, next);
}
