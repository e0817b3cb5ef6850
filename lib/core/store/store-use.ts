import { inRootContext } from '../async/root-context.js';
import type { LockStore, StoreNotice } from '../contract/lock-store.js';

type Tell = (notice: StoreNotice) => void;

/** All users of a store, with their listeners. */
interface StoreUsers {
  readonly all: Set<StoreUse>;
  readonly tells: Set<Tell>;
  isObserved: boolean;
}

const usersOf = new WeakMap<LockStore, StoreUsers>();

/** One user of a store, such as one of several `LockService`s. The store is closed with the last of them. */
export class StoreUse {
  readonly #store: LockStore;
  readonly #tell: Tell | undefined;

  /** Begins at once. `tell` gets the store's notices, in the root context. */
  constructor(store: LockStore, tell?: Tell) {
    this.#store = store;
    this.#tell = tell;
    const users = usersOf.get(store) ?? { all: new Set(), tells: new Set(), isObserved: false };
    usersOf.set(store, users);
    users.all.add(this);
    if (tell) listen(store, users, tell);
  }

  /** Ends the use, and closes the store unless others use it. Safe to call twice. */
  async close(): Promise<void> {
    const users = usersOf.get(this.#store);
    if (!users?.all.delete(this)) return;
    if (this.#tell) users.tells.delete(this.#tell);
    if (users.all.size > 0) return;
    usersOf.delete(this.#store);
    await this.#store.close?.();
  }
}

/** The store is observed once for all. */
function listen(store: LockStore, users: StoreUsers, tell: Tell): void {
  users.tells.add(tell);
  if (users.isObserved) return;
  users.isObserved = true;
  store.observe?.((notice) => {
    for (const each of users.tells) inRootContext(() => each(notice));
  });
}
