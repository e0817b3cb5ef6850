import type { Lease, LockStore } from '../../core/lock-store.js';

/** Grants everything to everybody, for `enabled: false`: keys are still checked, work still gets its `Lock`. */
export class DisabledLockStore implements LockStore {
  readonly name = 'disabled';
  readonly supports = {
    fencing: true,
    ttl: false,
    manyKeys: true,
    readLocks: true,
    semaphores: true,
    exclusive: false,
  } as const;
  #lastFencingToken = 0n;

  async tryAcquire(): Promise<Lease> {
    return {
      fencingToken: ++this.#lastFencingToken,
      extend: async () => true,
      release: async () => true,
      downgrade: async () => true,
    };
  }

  async inspect(): Promise<undefined> {
    return undefined;
  }
}
