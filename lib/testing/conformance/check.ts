import type { Backend } from './backend.js';
import type { Need } from './needs.js';

/** One check of the suite. Without `needs` it holds for every store. */
export interface Check {
  (backend: Backend): Promise<void>;
  readonly needs?: readonly Need[];
}

/** The check, for stores that have all of these. */
export function needing<Arguments extends unknown[]>(
  needs: readonly Need[],
  check: (...given: Arguments) => Promise<void>,
): ((...given: Arguments) => Promise<void>) & { readonly needs: readonly Need[] } {
  return Object.assign((...given: Arguments) => check(...given), { needs });
}
