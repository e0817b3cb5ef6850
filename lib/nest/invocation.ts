import { AsyncLocalStorage } from 'node:async_hooks';
import type { ExecutionContext } from '@nestjs/common';
import type { LockScope } from '../core/lock-scope.js';
import { clientConnection, ClientGoneException, onceClientGone } from './client-gone.js';

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
    const connection = clientConnection(this.context);
    if (!connection) return wait(signal);
    const ended = new AbortController();
    const leave = () => ended.abort(new ClientGoneException());
    const stop = () => ended.abort(signal!.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    const forget = onceClientGone(connection, leave);
    try {
      return await wait(ended.signal);
    } finally {
      signal?.removeEventListener('abort', stop);
      forget();
    }
  }
}

/** The call of a handler that the running code belongs to. */
export const invocations = new AsyncLocalStorage<Invocation>();
