import { HttpException, HttpStatus } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { LockError, isWorthRetrying } from '../core/lock-errors.js';
import type { LockErrorCode } from '../core/lock-errors.js';

/** How lock errors look over HTTP. */
export interface LockHttpOptions {
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

/** What the client is told. A failing store's own message may name hosts, so it stays inside. */
const PUBLIC_MESSAGES: Partial<Record<LockErrorCode, string>> = {
  LOCK_STORE_FAILED: 'The lock store is not available',
};

/** The exception that the transport of `context` understands. Other errors come back as they are. */
export async function toTransportError(
  error: unknown,
  context: ExecutionContext,
  options: LockHttpOptions,
): Promise<unknown> {
  if (!(error instanceof LockError)) return error;
  const status = httpStatus(error, options);
  if (status === undefined) return error;
  const message = PUBLIC_MESSAGES[error.code] ?? error.message;
  const body = { statusCode: status, message, code: error.code };
  switch (context.getType<string>()) {
    case 'http':
      if (isWorthRetrying(error)) setRetryAfter(context, options);
      return new HttpException(body, status, { cause: error });
    case 'graphql':
      return Object.assign(new Error(message, { cause: error }), {
        extensions: { code: error.code, http: { status } },
      });
    case 'rpc':
      return new (await import('@nestjs/microservices')).RpcException(body);
    case 'ws':
      return new (await import('@nestjs/websockets')).WsException(body);
    default:
      return error;
  }
}

function httpStatus(error: LockError, { busyStatus }: LockHttpOptions): number | undefined {
  switch (error.code) {
    case 'LOCK_TIMEOUT':
      return busyStatus ?? HttpStatus.CONFLICT;
    case 'LOCK_STORE_FAILED':
      return HttpStatus.SERVICE_UNAVAILABLE;
    case 'LOCK_KEY_INVALID':
      return HttpStatus.BAD_REQUEST;
    case 'LOCK_STALE':
      return HttpStatus.CONFLICT;
    default:
      return undefined;
  }
}

/** Express' response and Fastify's reply both have `header`. */
function setRetryAfter(context: ExecutionContext, { retryAfter = 1 }: LockHttpOptions): void {
  const response = context.switchToHttp().getResponse<HeaderTarget>();
  if (!response.headersSent) response.header('Retry-After', String(retryAfter));
}

interface HeaderTarget {
  readonly headersSent?: boolean;
  header(name: string, value: string): unknown;
}
