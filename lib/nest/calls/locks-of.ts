import type { LockService } from '../../core/lock.service.js';
import { locksProperty } from '../plan/lock-tokens.js';

export function checkInstance(
  self: unknown,
  label: string,
): asserts self is Record<symbol, unknown> {
  if (typeof self === 'object' && self !== null) return;
  throw new TypeError(`${label} was called without its instance: call it as instance.method()`);
}

/** The service that Nest has given to the instance of a decorated method. */
export function locksOf(self: unknown, label: string, name: string | undefined): LockService {
  checkInstance(self, label);
  const locks = self[locksProperty(name)] as LockService | undefined;
  if (locks) return locks;
  throw new Error(
    `${label}: this instance has no LockService: Nest did not make it, or its application was closed. Let Nest instantiate the class, or return ` +
      'the instance from a provider of a module that sees DistributedLockModule and is not loaded lazily',
  );
}
