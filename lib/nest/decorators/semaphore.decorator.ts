import { needed } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { DECORATOR_RULES, lockDecorator } from './lock-decorator.js';
import type { DistributedLockDecorator, DistributedLockOptions } from './lock-decorator.js';
import type { LockKeySource } from '../keys/method-key.js';

export interface SemaphoreOptions extends Omit<DistributedLockOptions, 'mode'> {
  /** How many may run at the same time, over all processes. Every process must say the same number. */
  readonly permits: number;
}

const { mode: _, ...OF_A_SEMAPHORE } = DECORATOR_RULES;
const RULES: OptionRules<SemaphoreOptions> = {
  ...OF_A_SEMAPHORE,
  permits: needed(DECORATOR_RULES.permits),
};
const SEMAPHORE = { name: '@Semaphore', rules: RULES };

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
