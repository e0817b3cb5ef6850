import type { LockStore, LockStoreFeatures } from '../../../core/contract/lock-store.js';

const SHARING_UNSUPPORTED =
  'a majority cannot count holders: each of two callers may be among the first three at other nodes';

/** The features that a majority of these has. */
export function featuresOf(stores: readonly LockStore[], fencing: boolean): LockStoreFeatures {
  return {
    fencing,
    ttl: true,
    manyKeys: stores.every(({ supports }) => supports.manyKeys === true),
    queuesManyKeys: true,
    sharingUnsupported: SHARING_UNSUPPORTED,
  };
}
