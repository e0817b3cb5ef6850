import 'reflect-metadata';
import { LockError } from '../../core/contract/lock-errors.js';
import { graphqlError } from './lock-exceptions.js';

/** Nest's `RESOLVER_PROPERTY_METADATA` and `RESOLVER_REFERENCE_METADATA`. */
const MARKS = ['graphql:resolve_property', 'graphql:resolve_reference'];

/** Whether GraphQL resolves a field, or a reference of a federation, with `method`. */
export function resolvesField(method: unknown): boolean {
  return typeof method === 'function' && MARKS.some((mark) => Reflect.hasMetadata(mark, method));
}

/** Nest calls such a method without interceptors, unless it is told otherwise, and sends clients what it rejects with. */
export async function withFieldErrors<T>(result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw error instanceof LockError ? graphqlError(error) : error;
  }
}
