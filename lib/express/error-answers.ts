import {
  exposedKey,
  httpStatus,
  isWorthRetrying,
  publicMessage,
  retryAfterHeader,
} from '../http/lock-status.js';
import { LockError } from '../core/contract/lock-errors.js';
import type { LockErrorOptions } from '../http/error-options.js';
import type { ExpressResponse } from './express-types.js';

interface HttpFields {
  readonly status: number;
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As error handlers know it from `http-errors`: `message` is not for clients. */
  readonly expose: false;
  /** The text that is for them. */
  readonly publicMessage: string;
}

/** The options of the route that an error comes from. They come before those of a handler of all routes. */
const saidByRoute = new WeakMap<LockError, LockErrorOptions>();

/** Adds to a lock error what error handlers read. Other errors come back as they are. */
export function asHttpError(error: unknown, options: LockErrorOptions): unknown {
  if (!(error instanceof LockError)) return error;
  saidByRoute.set(error, options);
  return Object.assign(error, httpFields(error, options));
}

/** Answers in place of the application. Headers must not have been sent. */
export function answerWith(
  response: ExpressResponse,
  error: LockError,
  options: LockErrorOptions,
): void {
  const { status, headers, publicMessage: message } = httpFields(error, options);
  for (const name of HEADERS_OF_A_BODY) response.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const { exposeKey = options.exposeKey } = saidByRoute.get(error) ?? {};
  response.status(status).json({ code: error.code, message, ...exposedKey(error, { exposeKey }) });
}

/** The headers of a body that is not sent now. */
const HEADERS_OF_A_BODY = [
  'Content-Type',
  'Content-Encoding',
  'Content-Language',
  'Content-Range',
  'Content-Disposition',
];

function httpFields(error: LockError, options: LockErrorOptions): HttpFields {
  const said = saidByRoute.get(error);
  const busyStatus = said?.busyStatus ?? options.busyStatus;
  const retryAfter = said?.retryAfter ?? options.retryAfter ?? 1;
  const status = httpStatus(error, busyStatus);
  const headers: Record<string, string> = {};
  if (isWorthRetrying(error)) headers['Retry-After'] = retryAfterHeader(retryAfter);
  const told = publicMessage(error);
  return { status, statusCode: status, headers, expose: false, publicMessage: told };
}
