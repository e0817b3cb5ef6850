import { Inject, Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { ApplicationConfig, ModuleRef } from '@nestjs/core';
import { defer, finalize } from 'rxjs';
import type { Observable } from 'rxjs';
import type { LockService } from '../../core/lock.service.js';
import type { HandlerScope } from './handler-scope.js';
import { Invocation, invocations } from './invocation.js';
import { ErrorMapping } from '../errors/error-mapping.js';
import { lockPlanOf } from '../plan/lock-plan.js';
import type { LockPlan } from '../plan/lock-plan.js';
import { getLocksToken } from '../plan/lock-tokens.js';
import { observableOnceLocked } from '../transports/locked-stream.js';
import { insteadOfStream } from './on-timeout.js';
import { requestData } from '../transports/request-data.js';

/**
 * Gives decorated handlers their request and turns their lock errors into the transport's exceptions. `@DistributedLock` puts it
 * on handlers itself; for what handlers call, the module registers another.
 */
@Injectable()
export class DistributedLockInterceptor implements NestInterceptor {
  readonly #errors: ErrorMapping;

  constructor(
    @Inject(ModuleRef) modules: ModuleRef,
    @Inject(ApplicationConfig) config: ApplicationConfig,
  ) {
    this.#errors = new ErrorMapping(modules, config);
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
      this.#errors.mapped(context, plan?.locks),
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
      const locks = this.#errors.get(getLocksToken(plan.locks)) as LockService;
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
}
