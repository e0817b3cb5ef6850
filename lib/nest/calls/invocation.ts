import { AsyncLocalStorage } from 'node:async_hooks';
import type { ExecutionContext } from '@nestjs/common';
import { eitherOf } from '../../core/async/abort-signals.js';
import type { LockScope } from '../../core/scope/lock-scope.js';
import type { LockPlan } from '../plan/lock-plan.js';
import { handlesEvent } from '../transports/event-handler.js';
import {
  clientConnection,
  ClientGoneException,
  onceClientGone,
} from '../transports/client-gone.js';
import { HandlerScope } from './handler-scope.js';

/** One call of a handler by Nest: the interceptor leaves it for the method that it surrounds. */
export class Invocation {
  /** Set when the interceptor has locked already (`before: 'pipes'`). */
  scope: HandlerScope | undefined;
  /** Locks of a returned Observable that Nest may never subscribe to. */
  readonly streams = new Set<HandlerScope>();
  #isTaken = false;
  #wasTaken = false;
  #isOver = false;
  /** Ends the wait for the lock, while there is one. */
  #leave: (() => void) | undefined;

  constructor(readonly context: ExecutionContext) {}

  /** `true` for the handler itself, unless it is at work or over: methods that it calls are no part of the request. */
  take(handler: unknown): boolean {
    if (this.#isTaken || handler !== this.context.getHandler()) return false;
    if (this.#isOver && this.#wasTaken) return false; // the first call may come late: pipes were at work
    this.#isTaken = this.#wasTaken = true;
    return true;
  }

  /** Nest is about to call the handler. */
  begin(): void {
    this.#isOver = false;
  }

  /** The handler has ended: an interceptor may try it again. */
  giveBack(): void {
    this.#isTaken = false;
  }

  /**
   * Calls `wait` with a signal that aborts when that of the plan does, when the last subscriber of the handler's result leaves, or
   * more or, where the transport can tell, when the client goes away.
   */
  async enter(
    plan: LockPlan,
    wait: (signal: AbortSignal) => Promise<LockScope>,
  ): Promise<HandlerScope> {
    const ended = eitherOf(plan.options?.signal);
    const leave = () => ended.abort(new ClientGoneException());
    const connection = clientConnection(this.context);
    const forgetClient = connection && onceClientGone(connection, leave);
    this.#leave = leave;
    try {
      return new HandlerScope(await wait(ended.signal), this.context, plan);
    } finally {
      this.#leave = undefined;
      ended.forget();
      forgetClient?.();
    }
  }

  /** The handler's result has ended, or its last subscriber has left: by a `timeout` of the application, say. */
  end(): void {
    this.#isOver = true;
    if (!handlesEvent(this.context)) this.#leave?.();
    for (const scope of this.streams) void scope.leave(); // never rejects
  }
}

/** The call of a handler that the running code belongs to. */
export const invocations = new AsyncLocalStorage<Invocation>();
