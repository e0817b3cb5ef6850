import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { ApplicationConfig, ModuleRef } from '@nestjs/core';
import type { Observable } from 'rxjs';
import { ErrorMapping } from './error-mapping.js';

/**
 * Answers lock errors of services as those of handlers. The module registers it for the whole application; `http: false` switches
 * it off.
 */
export class LockErrorsInterceptor implements NestInterceptor {
  readonly #errors: ErrorMapping;
  readonly #locks: string | undefined;

  /** `locks` is the name of the instance of its module. */
  constructor(modules: ModuleRef, config: ApplicationConfig, locks: string | undefined) {
    this.#errors = new ErrorMapping(modules, config);
    this.#locks = locks;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    ErrorMapping.surround(context);
    return next.handle().pipe(this.#errors.mapped(context, this.#locks));
  }
}
