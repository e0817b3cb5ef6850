import { Inject, Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { ApplicationConfig, ModuleRef } from '@nestjs/core';
import type { Observable } from 'rxjs';
import { ErrorMapping } from './error-mapping.js';

/**
 * Answers lock errors of services as those of handlers. The module registers it for the whole application; `http: false` switches
 * it off.
 */
@Injectable()
export class LockErrorsInterceptor implements NestInterceptor {
  readonly #errors: ErrorMapping;

  constructor(
    @Inject(ModuleRef) modules: ModuleRef,
    @Inject(ApplicationConfig) config: ApplicationConfig,
  ) {
    this.#errors = new ErrorMapping(modules, config);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    ErrorMapping.surround(context);
    return next.handle().pipe(this.#errors.mapped(context));
  }
}
