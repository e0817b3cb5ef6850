import 'reflect-metadata';
import type { ExecutionContext } from '@nestjs/common';
import { defer, EMPTY, isObservable } from 'rxjs';
import type { Observable } from 'rxjs';
import { withCaller } from '../../core/async/caller-stack.js';
import { LockTimeoutError } from '../../core/contract/lock-errors.js';
import { ofLocks } from '../errors/lock-origin.js';
import type { LockPlan } from '../plan/lock-plan.js';
import { isSubscription } from '../transports/request-data.js';
import { isAsyncIterable } from '../transports/sent-body.js';

/** Nest's `SSE_METADATA`, which it does not export. */
const SSE = '__sse__';

/** The call whose key stayed held. */
interface RefusedCall {
  readonly plan: LockPlan;
  /** Missing where the lock was wanted before the call was made (`before: 'pipes'`). */
  readonly self?: object | undefined;
  readonly args?: readonly unknown[] | undefined;
  /** Present where Nest called the method as a handler. */
  readonly context?: ExecutionContext | undefined;
}

/** The result in place of the method's own when the key stays held. Throws every other error as it is. */
export function insteadOfResult({ plan, self, args = [] }: RefusedCall, error: unknown): unknown {
  const { onTimeout } = plan;
  const isRefused = error instanceof LockTimeoutError;
  if (onTimeout === 'throw' || !isRefused) throw ofLocks(plan.locks, withCaller(error));
  return onTimeout === 'skip' ? undefined : onTimeout.call(self, error, ...args);
}

/** As `insteadOfResult`, where Nest called the method as a handler: a subscription has to have an iterator. */
export function insteadOfHandled(call: RefusedCall, error: unknown): unknown {
  const result = insteadOfResult(call, error);
  const isIterated = call.context !== undefined && isSubscription(call.context);
  return isIterated && !isAsyncIterable(result) ? noValues() : result;
}

async function* noValues(): AsyncGenerator<never> {}

/** As `insteadOfResult`, where a stream is expected. */
export function insteadOfStream(call: RefusedCall, error: unknown): Observable<unknown> {
  const isSkipped = call.plan.onTimeout === 'skip' && error instanceof LockTimeoutError;
  if (isSkipped && mayBeEmpty(call)) return EMPTY;
  return defer(() => {
    const result = insteadOfResult(call, error);
    return isObservable(result) ? result : Promise.resolve(result);
  });
}

/** Nest answers an HTTP request with the last value of a stream, and fails when there is none. */
function mayBeEmpty({ plan, context }: RefusedCall): boolean {
  if (context?.getType<string>() !== 'http') return plan.returns === 'observable';
  return Reflect.hasMetadata(SSE, context.getHandler());
}
