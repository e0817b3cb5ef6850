import type { LockService } from '../core/lock.service.js';
import { optionError } from '../core/options/option-error.js';
import { show } from '../core/options/option-values.js';

/** Throws `TypeError`. A service of another copy of the package is one, too. */
export function checkLocks(owner: string, locks: unknown): asserts locks is LockService {
  const { events, held } = (locks ?? {}) as Partial<LockService>;
  if (typeof events?.on === 'function' && typeof held === 'function') return;
  throw optionError(`${owner}: the first argument must be a LockService, got ${show(locks)}`);
}
