/** `nest-holdfast/redlock`. */
export { RedlockStore } from './redlock.store.js';
export type { Quarantine, RedlockStoreOptions } from './node/redlock-options.js';
