/** `nest-holdfast/redlock`. */
export { RedlockStore } from './redlock.store.js';
export type { Quarantine, RedlockStoreOptions } from './redlock-options.js';
