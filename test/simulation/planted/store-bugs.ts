import { systemClock } from '../../../lib/core/async/clock.js';
import type { AcquireRequest, Lease, LockStore } from '../../../lib/core/contract/lock-store.js';
import { MemoryLockStore } from '../../../lib/stores/memory/memory-lock.store.js';
import type { Bug } from '../bug.js';

type Attempt = LockStore['tryAcquire'];

/** A store whose attempts and leases are changed. */
function changed(store: LockStore, change: (attempt: Attempt) => Attempt): LockStore {
  const tryAcquire = change((request) => store.tryAcquire(request));
  const { name, supports } = store;
  const acquire = store.acquire?.bind(store);
  return { name, supports, tryAcquire, ...(acquire ? { acquire } : {}) };
}

function withLeases(
  store: LockStore,
  change: (lease: Lease, request: AcquireRequest) => Lease,
): LockStore {
  return changed(store, (attempt) => async (request) => {
    const lease = await attempt(request);
    return lease && change(lease, request);
  });
}

function part(lease: Lease): Lease {
  return { fencingToken: lease.fencingToken, extend: (ttl) => lease.extend(ttl), release: () => lease.release() }; // prettier-ignore
}

/** The server frees a key without a look at its holder. */
export const releasesWhatIsNotItsOwn: Bug = {
  server(store) {
    const latest = new Map<string, Lease>();
    return withLeases(store, (lease, { key }) => {
      latest.set(key, lease);
      const release = async () => (await lease.release()) || latest.get(key)!.release();
      return { ...part(lease), release };
    });
  },
};

/** A new holder gets the number of the one before: its counter is lost with the key. */
export const losesItsCounter: Bug = {
  server: (store) => withLeases(store, (lease) => ({ ...part(lease), fencingToken: 1n })),
};

/** A reply that is not understood counts as a grant. */
export const takesRefusalsForGrants: Bug = {
  store: (store, machine) =>
    changed(store, (attempt) => async (request) => {
      const lease = await attempt(request);
      if (lease || machine.random() < 0.9) return lease;
      return { fencingToken: 1n, extend: () => Promise.resolve(true), release: () => Promise.resolve(true) }; // prettier-ignore
    }),
};

/** A failed extension throws in a timer, which ends the process. */
export const throwsInTheBackground: Bug = {
  store: (store) =>
    withLeases(store, (lease) => ({
      ...part(lease),
      extend: async (ttl) => {
        const isOurs = await lease.extend(ttl);
        if (!isOurs)
          systemClock.schedule(0, () => {
            throw new Error('the key is gone');
          });
        return isOurs;
      },
    })),
};

/** A grant that comes in after its caller has given up is left to its ttl. */
export const leavesOrphans: Bug = {
  store: (store) =>
    withLeases(store, (lease) => {
      let isUsed = false;
      const { fencingToken } = lease;
      return {
        extend: (ttl) => lease.extend(ttl),
        get fencingToken() {
          isUsed = true;
          return fencingToken;
        },
        release: () => (isUsed ? lease.release() : Promise.resolve(true)),
      };
    }),
};

/** A key that is freed wakes its waiters, most of the time. */
class Forgetful extends MemoryLockStore {
  #freed = 0;

  protected override freed(keys: readonly string[]): void {
    if (++this.#freed % 3 > 0) super.freed(keys);
  }
}

export const losesWakeUps: Bug = { memory: () => new Forgetful() };

/** A waiter that has given up stays in the queue. */
export const keepsDeadWaiters: Bug = {
  store: (store) => ({
    name: store.name,
    supports: store.supports,
    tryAcquire: (request) => store.tryAcquire(request),
    acquire: (request, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        store.acquire!(request, new AbortController().signal).then(resolve, reject);
      }),
  }),
};
