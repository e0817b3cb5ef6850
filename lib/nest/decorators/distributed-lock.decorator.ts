import { DECORATOR_RULES, lockDecorator } from './lock-decorator.js';
import type { DistributedLockDecorator, DistributedLockOptions } from './lock-decorator.js';
import type { LockKeySource } from '../keys/method-key.js';

const DISTRIBUTED_LOCK = { name: '@DistributedLock', rules: DECORATOR_RULES };

/**
 * Runs the method under a lock: one at a time per key, across every process.
 *
 * ```ts
 * @DistributedLock('order:<id>')
 * async pay(id: string) {}
 * ```
 *
 * `<id>` is the parameter `id`, `<order.customer.id>` a path into it, `<0>` a position, `<request.params.id>` the request of
 * a handler; `:lower`, `:trim` and `:int` filter. Several keys are taken all or none. Throws `TypeError` when the class is
 * defined if the key names nothing. The call rejects as `LockService.withLock` does.
 */
export function DistributedLock<Args extends unknown[]>(
  key: LockKeySource<Args>,
  options?: DistributedLockOptions,
): DistributedLockDecorator<Args> {
  return lockDecorator(DISTRIBUTED_LOCK, key, options);
}
