import type { ExecutionContext, InjectionToken } from '@nestjs/common';
import type { ApplicationConfig, ModuleRef } from '@nestjs/core';
import { catchError, from, mergeMap, throwError } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { LockError } from '../../core/contract/lock-errors.js';
import type { LockErrorOptions } from '../../http/error-options.js';
import { getLockErrorsToken } from '../plan/lock-tokens.js';
import { toTransportError } from './lock-exceptions.js';
import { originOf } from './lock-origin.js';
import { hasOwnFilter } from './own-filters.js';

/** Calls that the interceptor of the whole application surrounds: the application's global filters get their errors. */
const ofApplication = new WeakSet<ExecutionContext>();

/** Turns lock errors of handlers, and of what they call, into exceptions of the transport. */
export class ErrorMapping {
  /** Leads to everything that the application has: private to the language. */
  readonly #modules: ModuleRef;
  readonly #config: ApplicationConfig;

  constructor(modules: ModuleRef, config: ApplicationConfig) {
    this.#modules = modules;
    this.#config = config;
  }

  /** A microservice of a hybrid application may have neither the global interceptors nor the global filters. */
  static surround(context: ExecutionContext): void {
    ofApplication.add(context);
  }

  /** For the result of a handler. `own` is an instance of locks for an application that has none without a name. */
  mapped<T>(context: ExecutionContext, own?: string): MonoTypeOperatorFunction<T> {
    return catchError((error: unknown) =>
      from(this.#exceptionFor(error, context, own)).pipe(
        mergeMap((exception) => throwError(() => exception)),
      ),
    );
  }

  async #exceptionFor(error: unknown, context: ExecutionContext, own?: string): Promise<unknown> {
    if (!(error instanceof LockError)) return toTransportError(error, context, {});
    const options = this.#optionsOf(originOf(error)?.locks) ?? this.#optionsOf(own) ?? {};
    if (options === false) return error;
    const config = ofApplication.has(context) ? this.#config : undefined;
    if (hasOwnFilter(error, context, config)) return error;
    return toTransportError(error, context, options);
  }

  #optionsOf(locks: string | undefined): false | LockErrorOptions | undefined {
    return this.get(getLockErrorsToken(locks)) as false | LockErrorOptions | undefined;
  }

  /** `undefined` where the application has no such instance: it may name all of them. */
  get(token: InjectionToken): unknown {
    try {
      return this.#modules.get(token as string, { strict: false });
    } catch {
      return undefined;
    }
  }
}
