import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/** Runs a step in the context in which this module was loaded, which is older than every lock. */
const inLoadingContext: <T>(step: () => T) => T = AsyncLocalStorage.snapshot();

/**
 * Runs `step` in the root context, which holds no lock and has nothing of whoever happens to run now: for everything that the
 * library starts or calls back on its own account.
 */
export function inRootContext<T>(step: () => T): T {
  // In a resource of its own: `enterWith` of a listener would stay with the next one.
  return inLoadingContext(() => new AsyncResource('nest-holdfast').runInAsyncScope(step));
}
