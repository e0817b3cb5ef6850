import { checkPermits } from '../../core/lock-options.js';
import { DECORATOR_OPTIONS, lockDecorator } from './lock-decorator.js';
import type { DistributedLockDecorator, DistributedLockOptions } from './lock-decorator.js';
import type { LockKeySource } from './method-key.js';

export interface SemaphoreOptions extends Omit<DistributedLockOptions, 'mode'> {
  /** How many may run at the same time, over all processes. Every process must say the same number. */
  readonly permits: number;
}

const SEMAPHORE = {
  name: '@Semaphore',
  options: DECORATOR_OPTIONS.filter((option) => option !== 'mode'),
  check: checkPermits,
};

/**
 * Runs the method with one of the permits of its key: at most so many at a time, over all processes.
 *
 * ```ts
 * @Semaphore('export:<tenant>', { permits: 5 })
 * async export(tenant: string) {}
 * ```
 *
 * Keys and options are those of `@DistributedLock`. The call rejects as `LockService.withPermit` does. Throws `TypeError` or
 * `RangeError` when the class is defined if the key names nothing or the permits are no whole number from 1.
 */
export function Semaphore<Args extends unknown[]>(
  key: LockKeySource<Args>,
  options: SemaphoreOptions,
): DistributedLockDecorator<Args> {
  return lockDecorator(SEMAPHORE, key, options);
}
