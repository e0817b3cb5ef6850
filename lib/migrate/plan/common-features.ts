import type { LockStore, LockStoreFeatures } from '../../core/contract/lock-store.js';

/** The features of a lock that is held in both stores: those that both have. */
export function commonFeatures(from: LockStore, to: LockStore): LockStoreFeatures {
  const [one, other] = [from.supports, to.supports];
  const isCounted = one.fencingFloor !== false && other.fencingFloor !== false;
  return {
    fencing: one.fencing && other.fencing,
    ...(!isCounted && { fencingFloor: false as const }),
    ttl: one.ttl || other.ttl,
    manyKeys: one.manyKeys === true && other.manyKeys === true,
    ...(one.queuesManyKeys && other.queuesManyKeys && { queuesManyKeys: true as const }),
    ...(one.readLocks && other.readLocks && { readLocks: true as const }),
    ...(one.semaphores && other.semaphores && { semaphores: one.semaphores }),
    sharingUnsupported: whyUnshared(from) ?? whyUnshared(to) ?? 'it has both stores',
  };
}

function whyUnshared({ name, supports }: LockStore): string | undefined {
  const { sharingUnsupported: why, readLocks, semaphores } = supports;
  if (readLocks && semaphores) return undefined;
  return why ?? `"${name}" has no ${readLocks ? 'semaphores' : 'read locks'}`;
}
