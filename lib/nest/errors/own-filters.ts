import 'reflect-metadata';
import type { ExecutionContext } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { LockError } from '../../core/contract/lock-errors.js';

/** Nest's `EXCEPTION_FILTERS_METADATA` and `FILTER_CATCH_EXCEPTIONS`. */
const FILTERS = '__exceptionFilters__';
const CAUGHT = '__filterCatchExceptions__';

/** A filter or its class. */
type Filter = object;

/**
 * Whether the application has a filter of its own for lock errors, `@Catch(LockTimeoutError)` say, and Nest would call it for this one.
 * A filter for errors of all kinds is none: it gets the exception of the transport. `config`: that of the global filters.
 */
export function hasOwnFilter(
  error: LockError,
  context: ExecutionContext,
  config: ApplicationConfig | undefined,
): boolean {
  const chosen = filtersOf(context, config).find((filter) => {
    const caught = caughtBy(filter);
    return caught.length === 0 || caught.some((type) => error instanceof type);
  });
  return chosen !== undefined && caughtBy(chosen).some((type) => isOfLocks(type, error));
}

/** In the order in which Nest asks them. */
function filtersOf(context: ExecutionContext, config: ApplicationConfig | undefined): Filter[] {
  const ofRequests = config?.getGlobalRequestFilters().flatMap(({ metatype }) => metatype ?? []);
  return [
    ...(config?.getGlobalFilters() ?? []),
    ...(ofRequests ?? []),
    ...metadataOf(context.getClass()),
    ...metadataOf(context.getHandler()),
  ].toReversed();
}

function metadataOf(target: Function | undefined): Filter[] {
  if (typeof target !== 'function') return [];
  return (Reflect.getMetadata(FILTERS, target) ?? []) as Filter[];
}

/** Empty for a filter of everything. */
function caughtBy(filter: Filter): Function[] {
  const type = typeof filter === 'function' ? filter : filter.constructor;
  return (Reflect.getMetadata(CAUGHT, type) ?? []) as Function[];
}

function isOfLocks(type: Function, error: LockError): boolean {
  if (!(error instanceof type)) return false;
  return type === LockError || type.prototype instanceof LockError;
}
