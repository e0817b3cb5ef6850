import type { LockStore } from '../../core/lock-store.js';
import type { Backend, Check } from './backend.js';

/** Readers, and three permits, as far as the store has them. */
export function kinds(store: LockStore): number[] {
  const { readLocks, semaphores } = store.supports;
  return [...(readLocks ? [Infinity] : []), ...(semaphores ? [3] : [])];
}

/** The check, with each of these numbers of permits. */
export function forEachKind(check: (backend: Backend, permits: number) => Promise<void>): Check {
  return async (backend) => {
    for (const permits of kinds(await backend.store())) await check(backend, permits);
  };
}
