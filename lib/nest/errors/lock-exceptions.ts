import { HttpException } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import {
  exposedKey,
  httpStatus,
  isWorthRetrying,
  publicMessage,
  retryAfterHeader,
} from '../../http/lock-status.js';
import { LockError } from '../../core/contract/lock-errors.js';
import type { LockErrorOptions } from '../../http/error-options.js';
import { ClientGoneException } from '../transports/client-gone.js';
import { handlesEvent } from '../transports/event-handler.js';

/** The exception that the transport of `context` understands. Other errors come back as they are. */
export async function toTransportError(
  error: unknown,
  context: ExecutionContext,
  options: LockErrorOptions,
): Promise<unknown> {
  if (error instanceof ClientGoneException) return quietly(error, context);
  if (!(error instanceof LockError)) return error;
  if (context.getType<string>() === 'graphql') return graphqlError(error, options);
  if (httpStatus(error) === 500) return error; // Nest answers "Internal server error", and logs it
  const status = httpStatus(error, options.busyStatus);
  const message = publicMessage(error);
  const body = { statusCode: status, message, code: error.code, ...exposedKey(error, options) };
  switch (context.getType<string>()) {
    case 'http':
      if (isWorthRetrying(error)) setRetryAfter(context, options);
      return httpException(body, status, error);
    case 'rpc':
      if (handlesEvent(context)) return error; // Nest logs it, and it does not log an RpcException
      return rpcException(body);
    case 'ws':
      return wsException(body);
    default:
      return error;
  }
}

/** Nest's own `cause` and `options` are enumerable: filters that send the whole exception would tell clients the key. */
export function httpException(body: object, status: number, cause: LockError): HttpException {
  const exception = new HttpException(body, status, { cause });
  for (const name of ['cause', 'options']) {
    Object.defineProperty(exception, name, { enumerable: false });
  }
  return exception;
}

/** An error that no filter of Nest logs as one of the application. */
async function quietly(error: ClientGoneException, context: ExecutionContext): Promise<Error> {
  switch (context.getType<string>()) {
    case 'rpc':
      return rpcException(error.message);
    case 'ws':
      return wsException(error.message);
    default:
      return error;
  }
}

async function rpcException(body: string | object): Promise<Error> {
  return new (await import('@nestjs/microservices')).RpcException(body);
}

async function wsException(body: string | object): Promise<Error> {
  return new (await import('@nestjs/websockets')).WsException(body);
}

/**
 * GraphQL sends the message of whatever a resolver throws. Nest logs errors of resolvers, but no HttpException: that a key is
 * held is no news, that the store fails or the lock was lost is.
 */
export function graphqlError(cause: LockError, options: LockErrorOptions = {}): Error {
  const status = httpStatus(cause, options.busyStatus);
  const message = publicMessage(cause);
  const error =
    status < 500 ? httpException({ message }, status, cause) : new Error(message, { cause });
  return Object.assign(error, {
    extensions: { code: cause.code, ...exposedKey(cause, options), http: { status } },
  });
}

/** Express' response and Fastify's reply both have `header`. */
function setRetryAfter(context: ExecutionContext, { retryAfter = 1 }: LockErrorOptions): void {
  const response = context.switchToHttp().getResponse<HeaderTarget>();
  if (!response.headersSent) response.header('Retry-After', retryAfterHeader(retryAfter));
}

interface HeaderTarget {
  readonly headersSent?: boolean;
  header(name: string, value: string): unknown;
}
