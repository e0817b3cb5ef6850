import type { LockStore } from '../../core/contract/lock-store.js';

const FEATURES: Readonly<Record<string, (store: LockStore) => boolean>> = {
  'fencing tokens': ({ supports }) => supports.fencing,
  'read locks': ({ supports }) => supports.readLocks === true,
  semaphores: ({ supports }) => supports.semaphores !== undefined,
  queue: (store) => store.acquire !== undefined,
  inspect: (store) => store.inspect !== undefined,
  list: (store) => store.list !== undefined,
};

/** The features that `from` has and `to` lacks. */
export function lostFeatures(from: LockStore, to: LockStore): string[] {
  const names = Object.entries(FEATURES);
  return names.filter(([, has]) => has(from) && !has(to)).map(([name]) => name);
}
