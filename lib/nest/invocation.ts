import { AsyncLocalStorage } from 'node:async_hooks';
import { HttpException } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import type { LockScope } from '../core/lock-scope.js';

/** nginx' status for a client that went away; nobody is there to read it, and Nest does not log it as an error. */
const CLIENT_CLOSED_REQUEST = 499;

/** One call of a handler by Nest: the interceptor leaves it for the method that it surrounds. */
export class Invocation {
  /** Set when the interceptor has locked already (`before: 'pipes'`). */
  scope: LockScope | undefined;
  /** Locks of a returned Observable that Nest may never subscribe to. */
  readonly streams = new Set<LockScope>();
  #isTaken = false;

  constructor(readonly context: ExecutionContext) {}

  /** `true` once, for the handler itself: what the handler calls is not part of the request. */
  take(handler: unknown): boolean {
    if (this.#isTaken || handler !== this.context.getHandler()) return false;
    this.#isTaken = true;
    return true;
  }

  /** Calls `wait` with a signal that aborts when `signal` does or, where the transport can tell, when the client goes away. */
  async whileClientWaits<T>(
    signal: AbortSignal | undefined,
    wait: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    if (this.context.getType<string>() !== 'http') return wait(signal);
    const response = this.context.switchToHttp().getResponse<HttpResponse>();
    const raw = response.raw ?? response;
    const gone = new AbortController();
    const leave = () =>
      gone.abort(new HttpException('Client closed request', CLIENT_CLOSED_REQUEST));
    const stop = () => gone.abort(signal!.reason);
    if (signal?.aborted) stop();
    if (raw.destroyed) leave();
    signal?.addEventListener('abort', stop, { once: true });
    raw.once?.('close', leave);
    try {
      return await wait(gone.signal);
    } finally {
      signal?.removeEventListener('abort', stop);
      raw.removeListener?.('close', leave);
    }
  }
}

/** Express' response, or Fastify's reply with Node's response inside. */
type HttpResponse = Partial<NodeJS.EventEmitter> & { raw?: HttpResponse; destroyed?: boolean };

/** The call of a handler that the running code belongs to. */
export const invocations = new AsyncLocalStorage<Invocation>();
