import { Inject, Injectable } from '@nestjs/common';
import type {
  CallHandler,
  ExecutionContext,
  InjectionToken,
  NestInterceptor,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { catchError, defer, finalize, from, mergeMap, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import type { LockService } from '../../core/lock.service.js';
import type { HandlerScope } from './handler-scope.js';
import { Invocation, invocations } from './invocation.js';
import { toTransportError } from './lock-exceptions.js';
import type { LockErrorOptions } from '../../http/error-options.js';
import { lockPlanOf } from '../plan/lock-plan.js';
import type { LockPlan } from '../plan/lock-plan.js';
import { getLockErrorsToken, getLocksToken } from '../plan/lock-tokens.js';
import { observableOnceLocked } from '../transports/locked-stream.js';
import { insteadOfStream } from './on-timeout.js';
import { requestData } from '../transports/request-data.js';

/**
 * Gives decorated handlers their request and turns lock errors into the transport's exceptions. `@DistributedLock` puts it
 * on handlers itself; as `APP_INTERCEPTOR` it does the same for lock errors of every handler.
 */
@Injectable()
export class DistributedLockInterceptor implements NestInterceptor {
  /** Leads to everything that the application has: private to the language. */
  readonly #modules: ModuleRef;

  constructor(@Inject(ModuleRef) modules: ModuleRef) {
    this.#modules = modules;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    // As `APP_INTERCEPTOR`, it is around the one of the decorator.
    if (invocations.getStore()?.context === context) return next.handle();
    const plan = lockPlanOf(context.getHandler());
    const invocation = new Invocation(context);
    // Nest binds the async context when `handle` is called, not when its result is subscribed to.
    const handle = () =>
      defer(() => {
        invocation.begin();
        return invocations.run(invocation, () => next.handle());
      });
    const handled = plan?.before ? this.#lockedFirst(plan, invocation, handle) : handle();
    return handled.pipe(
      catchError((error: unknown) =>
        from(toTransportError(error, context, this.#http(plan?.locks))).pipe(
          mergeMap((exception) => throwError(() => exception)),
        ),
      ),
      finalize(() => invocation.end()),
    );
  }

  #lockedFirst(
    plan: LockPlan,
    invocation: Invocation,
    handle: () => Observable<unknown>,
  ): Observable<unknown> {
    const { context } = invocation;
    const enter = async (): Promise<HandlerScope> => {
      const keys = plan.key([], () => requestData(context));
      const locks = this.#get(getLocksToken(plan.locks)) as LockService;
      return invocation.enter(plan, (signal) =>
        locks.enterRequest(keys, { ...plan.options, signal }),
      );
    };
    const source = (scope: HandlerScope) => {
      invocation.scope = scope;
      return handle();
    };
    return observableOnceLocked(enter, source, (error) =>
      insteadOfStream({ plan, context }, error),
    );
  }

  #http(locks: string | undefined): LockErrorOptions {
    return (this.#get(getLockErrorsToken(locks)) as LockErrorOptions | undefined) ?? {};
  }

  #get(token: InjectionToken): unknown {
    try {
      return this.#modules.get(token as string, { strict: false });
    } catch {
      return undefined; // a handler without a lock, in an application that names all its instances
    }
  }
}
