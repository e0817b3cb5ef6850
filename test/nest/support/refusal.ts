import { DistributedLock } from 'nest-holdfast';

/** `@DistributedLock` as plain JavaScript sees it, without the help of types. */
export const Untyped = DistributedLock as unknown as (
  key: unknown,
  options?: unknown,
) => MethodDecorator & PropertyDecorator;

/** The error of the definition of a class. */
export function refusal(define: () => unknown): Error {
  try {
    define();
  } catch (error) {
    return error as Error;
  }
  throw new Error('The class was accepted');
}
