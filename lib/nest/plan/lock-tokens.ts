import { LockService } from '../../core/lock.service.js';

/** Name of the instance that `forRoot` makes when it is given none. */
export const DEFAULT_LOCKS = 'default';

/** Injection token of a `LockService`: the class itself, or that of the instance called `name`. */
export function getLocksToken(name: string = DEFAULT_LOCKS): typeof LockService | string {
  return name === DEFAULT_LOCKS ? LockService : `LockService:${name}`;
}

/** Injection token of the Redis client that the module uses; `undefined` is injected where it uses none. */
export function getLockClientToken(name: string = DEFAULT_LOCKS): string {
  return `LockRedisClient:${name}`;
}

/** Injection token of what `DistributedLockInterceptor` needs to know of an instance. */
export function getLockErrorsToken(name: string = DEFAULT_LOCKS): string {
  return `LockErrorOptions:${name}`;
}

/**
 * Property through which an instance gets its `LockService`. Nest prints the description when it cannot fill the property,
 * so it says what to do.
 */
export function locksProperty(name: string = DEFAULT_LOCKS): symbol {
  const argument = name === DEFAULT_LOCKS ? '' : `{ name: '${name}' }`;
  return Symbol.for(`import DistributedLockModule.forRoot(${argument})`);
}
