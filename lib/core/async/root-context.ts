import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';

/** Runs a step in the context of this module's loading, which is older than every lock. */
const inLoadingContext: <T>(step: () => T) => T = AsyncLocalStorage.snapshot();

/**
 * Runs `step` in the root context, which holds no lock and nothing of the current caller: for everything that the library starts
 * or calls back on its own account.
 */
export function inRootContext<T>(step: () => T): T {
  // In a resource of its own: `enterWith` in a listener would otherwise leak into the next one.
  return inLoadingContext(() => new AsyncResource('nest-holdfast').runInAsyncScope(step));
}
